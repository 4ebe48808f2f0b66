//! The environment, read without allocating or taking libc's lock.

use core::ffi::{CStr, c_char};

unsafe extern "C" {
    static environ: *const *const c_char;
}

/// The value of variable `name`, copied into `buffer`; `None` when it is not set.
///
/// A value longer than `buffer` is cut, and `Some(len)` then equals the buffer's length.
pub fn copy(name: &[u8], buffer: &mut [u8]) -> Option<usize> {
    let mut index = 0;
    loop {
        let entry = entry(index)?.to_bytes();
        if let Some(value) = entry.strip_prefix(name).and_then(|rest| rest.strip_prefix(b"=")) {
            let len = value.len().min(buffer.len());
            buffer.get_mut(..len)?.copy_from_slice(value.get(..len)?);
            return Some(len);
        }
        index += 1;
    }
}

fn entry(index: usize) -> Option<&'static CStr> {
    // SAFETY: `environ` is null or an array that a null ends; all entries before `index` were not
    // null. A thread that changes the environment meanwhile is a race of the program with every
    // reader of it (as std documents); entries themselves are never freed by libc.
    let entry = unsafe {
        if environ.is_null() {
            return None;
        }
        *environ.add(index)
    };
    if entry.is_null() {
        return None;
    }
    // SAFETY: a non-null entry is a C string.
    Some(unsafe { CStr::from_ptr(entry) })
}
