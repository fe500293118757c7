//! A minimal HTTP server with scripted responses, one thread per connection.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use crawl::Url;

/// Writes a response byte by byte.
type Script = dyn FnOnce(&mut TcpStream) -> std::io::Result<()>;

/// The response to one request.
pub(crate) enum Answer {
    /// Status, header lines and body; `Content-Length` is added.
    Http(u16, Vec<String>, Vec<u8>),
    /// Calls the closure to write the response, then closes the connection.
    Raw(Box<Script>),
}

/// An HTML response.
pub(crate) fn html(body: impl Into<Vec<u8>>) -> Answer {
    with_headers(&["Content-Type: text/html; charset=utf-8"], body)
}

pub(crate) fn with_headers(headers: &[&str], body: impl Into<Vec<u8>>) -> Answer {
    Answer::Http(200, headers.iter().map(ToString::to_string).collect(), body.into())
}

pub(crate) fn status(status: u16) -> Answer {
    Answer::Http(status, vec![], b"<p>not a page</p>".to_vec())
}

pub(crate) fn redirect(to: impl std::fmt::Display) -> Answer {
    Answer::Http(302, vec![format!("Location: {to}")], vec![])
}

/// A page that has moved for good.
pub(crate) fn moved(to: impl std::fmt::Display) -> Answer {
    Answer::Http(301, vec![format!("Location: {to}")], vec![])
}

pub(crate) fn raw(write: impl FnOnce(&mut TcpStream) -> std::io::Result<()> + 'static) -> Answer {
    Answer::Raw(Box::new(write))
}

/// A request as received.
#[derive(Debug, Clone)]
pub(crate) struct Request {
    /// With query, e.g. `/a?b=c`.
    pub(crate) path: String,
    /// A header per line, names in lower case.
    pub(crate) headers: String,
}

impl Request {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.lines().find_map(|line| Some(line.strip_prefix(name)?.strip_prefix(": ")?.trim()))
    }
}

/// Serves until the test process ends.
pub(crate) struct Server {
    root: Url,
    requests: Arc<Mutex<Vec<Request>>>,
}

impl Server {
    /// Calls `answer` with each request and the number of earlier requests for the same path.
    pub(crate) fn start(answer: impl Fn(&Request, usize) -> Answer + Send + Sync + 'static) -> Self {
        Self::on("127.0.0.1:0", answer)
    }

    pub(crate) fn on(
        address: &str,
        answer: impl Fn(&Request, usize) -> Answer + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind(address).unwrap();
        let root = Url::parse(&format!("http://{}/", listener.local_addr().unwrap())).unwrap();
        let requests = Arc::new(Mutex::new(Vec::<Request>::new()));
        let log = Arc::clone(&requests);
        let answer = Arc::new(answer);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let (stream, log, answer) = (stream.unwrap(), Arc::clone(&log), Arc::clone(&answer));
                std::thread::spawn(move || serve(stream, &log, &*answer));
            }
        });
        Self { root, requests }
    }

    /// A server without `robots.txt` and with one response for everything else.
    pub(crate) fn page(answer: impl Fn() -> Answer + Send + Sync + 'static) -> Self {
        Self::start(move |request, _| if request.path == "/robots.txt" { status(404) } else { answer() })
    }

    pub(crate) fn at(&self, path: &str) -> Url {
        self.root.join(path).unwrap()
    }

    /// Scheme, host and port, without a slash.
    pub(crate) fn origin(&self) -> String {
        self.root.origin().ascii_serialization()
    }

    pub(crate) fn requests(&self) -> Vec<Request> {
        self.requests.lock().unwrap().clone()
    }

    pub(crate) fn count(&self, path: &str) -> usize {
        self.requests().iter().filter(|request| request.path == path).count()
    }
}

/// Errors are expected: the client closes the connection when a limit is reached.
fn serve(mut stream: TcpStream, log: &Mutex<Vec<Request>>, answer: &dyn Fn(&Request, usize) -> Answer) {
    let Some(request) = read(&stream) else { return };
    let before = {
        let mut log = log.lock().unwrap();
        log.push(request.clone());
        log.iter().filter(|earlier| earlier.path == request.path).count() - 1
    };
    let _ = match answer(&request, before) {
        Answer::Raw(write) => write(&mut stream),
        Answer::Http(status, headers, body) => {
            let mut head =
                format!("HTTP/1.1 {status} X\r\nConnection: close\r\nContent-Length: {}\r\n", body.len());
            for header in headers {
                head.push_str(&format!("{header}\r\n"));
            }
            head.push_str("\r\n");
            stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(&body))
        }
    };
}

fn read(stream: &TcpStream) -> Option<Request> {
    let mut lines = BufReader::new(stream).lines();
    let path = lines.next()?.ok()?.split(' ').nth(1)?.to_owned();
    let mut headers = String::new();
    for line in lines {
        let line = line.ok()?;
        if line.is_empty() {
            return Some(Request { path, headers });
        }
        headers.push_str(&format!("{line}\n"));
    }
    None
}
