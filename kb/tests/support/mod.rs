//! A minimal REST server with scripted responses and failures. Other tests use a real server.

use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

/// The response to one request.
pub(crate) enum Answer {
    Json(u16, String),
    /// A page of this media type.
    Page(&'static str, String),
    /// Status, further headers and body of a page.
    Http(u16, &'static str, String),
    /// Closes the connection without a response.
    Drop,
}

/// Shorthand for [`Answer::Json`].
pub(crate) fn json(status: u16, body: impl Into<String>) -> Answer {
    Answer::Json(status, body.into())
}

/// A request as received.
#[derive(Debug, Clone)]
pub(crate) struct Request {
    /// Method and path without query, e.g. `POST /rest/v1/kb_chunks`.
    pub(crate) line: String,
    /// The query, without `?`.
    pub(crate) query: String,
    pub(crate) headers: String,
    pub(crate) body: String,
}

/// Serves until the test ends.
pub(crate) struct FakeServer {
    pub(crate) url: String,
    requests: Arc<Mutex<Vec<Request>>>,
}

impl FakeServer {
    /// Calls `answer` with each request and the number of earlier requests with the same line.
    pub(crate) fn start(answer: impl Fn(&Request, usize) -> Answer + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let requests = Arc::new(Mutex::new(Vec::<Request>::new()));
        let log = Arc::clone(&requests);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                // A run that ends may drop a request; the server continues.
                let Ok(request) = read(&stream) else { continue };
                let before = {
                    let mut log = log.lock().unwrap();
                    log.push(request.clone());
                    log.iter().filter(|earlier| earlier.line == request.line).count() - 1
                };
                let (status, media_type, body): (u16, _, _) = match answer(&request, before) {
                    Answer::Json(status, body) => (status, "application/json", body),
                    Answer::Page(media_type, body) => (200, media_type, body),
                    // The media type is the first of the headers.
                    Answer::Http(status, headers, body) => (status, headers, body),
                    Answer::Drop => continue,
                };
                {
                    let length = body.len();
                    let head = format!(
                        "HTTP/1.1 {status} X\r\nContent-Type: {media_type}\r\nContent-Length: {length}\r\n\
                         Connection: close\r\n\r\n"
                    );
                    let _ = stream.write_all(head.as_bytes());
                    let _ = stream.write_all(body.as_bytes());
                }
            }
        });
        Self { url, requests }
    }

    pub(crate) fn requests(&self) -> Vec<Request> {
        self.requests.lock().unwrap().clone()
    }

    pub(crate) fn count(&self, line: &str) -> usize {
        self.requests().iter().filter(|request| request.line == line).count()
    }
}

fn read(stream: &TcpStream) -> std::io::Result<Request> {
    let mut reader = BufReader::new(stream);
    let mut first = String::new();
    if reader.read_line(&mut first)? == 0 {
        return Err(ErrorKind::UnexpectedEof.into());
    }
    let mut headers = String::new();
    let mut length = 0;
    loop {
        let mut header = String::new();
        reader.read_line(&mut header)?;
        if header.trim().is_empty() {
            break;
        }
        if let Some(value) = header.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
        headers.push_str(&header);
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    let mut parts = first.split_whitespace();
    let method = parts.next().unwrap();
    let target = parts.next().unwrap();
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let (line, query) = (format!("{method} {path}"), query.to_owned());
    Ok(Request { line, query, headers, body: String::from_utf8(body).unwrap() })
}
