//! A program of many tasks: channels, futures behind pointers, locks, timers, and sockets.

use std::collections::HashMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, BufWriter};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Mutex, Notify, RwLock, Semaphore, broadcast, mpsc, oneshot, watch};
use tokio::task::JoinSet;

/// What a client asks for.
enum Request {
    Put { key: String, value: Vec<u8> },
    Get { key: String, answer: oneshot::Sender<Option<Vec<u8>>> },
}

/// What is done with a value, known only by what it can do.
trait Filter: Send + Sync {
    fn apply<'a>(&'a self, value: Vec<u8>) -> Pin<Box<dyn Future<Output = Vec<u8>> + Send + 'a>>;
}

struct Reverse;

impl Filter for Reverse {
    fn apply<'a>(&'a self, value: Vec<u8>) -> Pin<Box<dyn Future<Output = Vec<u8>> + Send + 'a>> {
        Box::pin(async move {
            tokio::task::yield_now().await;
            value.into_iter().rev().collect()
        })
    }
}

struct Repeat(usize);

impl Filter for Repeat {
    fn apply<'a>(&'a self, value: Vec<u8>) -> Pin<Box<dyn Future<Output = Vec<u8>> + Send + 'a>> {
        Box::pin(async move { value.repeat(self.0) })
    }
}

type Store = Arc<RwLock<HashMap<String, Vec<u8>>>>;

async fn serve(store: Store, mut requests: mpsc::Receiver<Request>) -> usize {
    let mut served = 0;
    while let Some(request) = requests.recv().await {
        served += 1;
        match request {
            Request::Put { key, value } => {
                store.write().await.insert(key, value);
            }
            Request::Get { key, answer } => {
                let _ = answer.send(store.read().await.get(&key).cloned());
            }
        }
    }
    served
}

async fn client(number: usize, requests: mpsc::Sender<Request>, filters: Arc<[Box<dyn Filter>]>) {
    for round in 0..30 {
        let key = format!("key {} of client {number}", round % 7);
        let mut value = vec![number as u8; 10 + round];
        for filter in filters.iter() {
            value = filter.apply(value).await;
        }
        let put = Request::Put { key: key.clone(), value };
        requests.send(put).await.ok().unwrap();
        let (answer, answered) = oneshot::channel();
        requests.send(Request::Get { key, answer }).await.ok().unwrap();
        assert!(answered.await.unwrap().is_some());
    }
}

async fn echo(listener: TcpListener, connections: usize) {
    let mut all = JoinSet::new();
    for _ in 0..connections {
        let (stream, _) = listener.accept().await.unwrap();
        all.spawn(async move {
            let (reader, writer) = stream.into_split();
            let (mut lines, mut out) = (BufReader::new(reader).lines(), BufWriter::new(writer));
            while let Some(line) = lines.next_line().await.unwrap() {
                out.write_all(format!("{line}, too\n").as_bytes()).await.unwrap();
                out.flush().await.unwrap();
            }
        });
    }
    while all.join_next().await.is_some() {}
}

async fn talk(address: std::net::SocketAddr, number: usize) -> usize {
    let mut stream = BufReader::new(TcpStream::connect(address).await.unwrap());
    let mut heard = String::new();
    for line in 0..20 {
        let said = format!("client {number} says {line}\n");
        stream.write_all(said.as_bytes()).await.unwrap();
        stream.read_line(&mut heard).await.unwrap();
    }
    heard.len()
}

async fn signals() {
    let (level, mut seen) = watch::channel(String::from("low"));
    let (news, _) = broadcast::channel::<Arc<str>>(16);
    let (done, mut finished) = mpsc::unbounded_channel::<Box<[u64]>>();
    let (gate, start) = (Arc::new(Semaphore::new(3)), Arc::new(Notify::new()));
    let shared = Arc::new(Mutex::new(Vec::new()));
    let mut readers = JoinSet::new();
    for number in 0..40_u64 {
        let (mut news, done, gate) = (news.subscribe(), done.clone(), Arc::clone(&gate));
        let (start, shared) = (Arc::clone(&start), Arc::clone(&shared));
        readers.spawn(async move {
            start.notified().await;
            let permit = gate.acquire_owned().await.unwrap();
            let text = news.recv().await.unwrap();
            shared.lock().await.push(text);
            tokio::time::sleep(Duration::from_micros(number * 10)).await;
            drop(permit);
            done.send((0..number).collect()).unwrap();
        });
    }
    drop(done);
    tokio::task::yield_now().await;
    news.send(Arc::from("some news of the day")).unwrap();
    level.send_replace(String::from("high"));
    seen.changed().await.unwrap();
    while !readers.is_empty() {
        start.notify_waiters();
        tokio::time::sleep(Duration::from_millis(1)).await;
        while readers.try_join_next().is_some() {}
    }
    let mut sum = 0;
    while let Some(numbers) = finished.recv().await {
        sum += numbers.len();
    }
    assert_eq!(sum, 40 * 39 / 2);
}

async fn main() {
    let store = Store::default();
    let (requests, incoming) = mpsc::channel(64);
    let server = tokio::spawn(serve(Arc::clone(&store), incoming));
    let filters: Arc<[Box<dyn Filter>]> =
        Arc::from([Box::new(Reverse) as Box<dyn Filter>, Box::new(Repeat(3)), Box::new(Reverse)]);
    let clients: Vec<_> = (0..100)
        .map(|number| tokio::spawn(client(number, requests.clone(), Arc::clone(&filters))))
        .collect();
    drop(requests);
    for client in clients {
        client.await.unwrap();
    }
    assert_eq!(server.await.unwrap(), 100 * 60);
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let echoing = tokio::spawn(echo(listener, 12));
    let talks: Vec<_> = (0..12).map(|number| tokio::spawn(talk(address, number))).collect();
    for talk in talks {
        assert!(talk.await.unwrap() > 0);
    }
    echoing.await.unwrap();
    signals().await;
    let blocking = tokio::task::spawn_blocking(|| (0..1000).map(|n| n.to_string()).collect());
    let texts: Vec<String> = blocking.await.unwrap();
    assert_eq!(texts.len(), 1000);
}

/// Runs it, on two threads.
pub(crate) fn run() {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    runtime.unwrap().block_on(main());
}
