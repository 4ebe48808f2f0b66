module busy

go 1.22
