//! Only hosts that the user named are contacted in a private network. In these tests `[::1]` is the public internet and
//! `127.0.0.1` the private network.

use std::collections::{HashMap, VecDeque};
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use reqwest::Url;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};

use super::Site;
use super::network::Network;
use super::network::Reach;
use super::transfer::{FetchSpec, Purpose, Reply};
use crate::error::{CrawlError, FetchError};
use crate::listing::Listing;
use crate::options::Options;

use server::{Server, html, redirect, status, with_headers};

#[path = "../../tests/loopback/server.rs"]
#[allow(dead_code, reason = "the integration tests use the rest")]
mod server;

const PUBLIC: IpAddr = IpAddr::V6(Ipv6Addr::LOCALHOST);
const PRIVATE: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

/// Returns the answers for each name in turn, then repeats the last.
#[derive(Default)]
struct FakeResolver(Mutex<HashMap<String, VecDeque<Vec<IpAddr>>>>);

impl Resolve for FakeResolver {
    fn resolve(&self, name: Name) -> Resolving {
        let mut names = self.0.lock().unwrap();
        let answer = names.get_mut(name.as_str()).map(|answers| match answers.len() {
            1 => answers[0].clone(),
            _ => answers.pop_front().unwrap(),
        });
        Box::pin(async move {
            let unknown = || io::Error::new(io::ErrorKind::NotFound, "unknown host");
            let found: Vec<_> =
                answer.ok_or_else(unknown)?.into_iter().map(|address| SocketAddr::new(address, 0)).collect();
            Ok(Box::new(found.into_iter()) as Addrs)
        })
    }
}

fn site(names: &[(&str, &[&[IpAddr]])]) -> Site {
    let names = names.iter().map(|(name, answers)| {
        ((*name).to_owned(), answers.iter().map(|addresses| addresses.to_vec()).collect())
    });
    let resolver = FakeResolver(Mutex::new(names.collect()));
    let options = Options {
        delay: Duration::ZERO,
        first_pause: Duration::from_millis(1),
        timeout: Duration::from_secs(20),
        retries: 1,
        ..Options::default()
    };
    Site::in_network(options, Network::new(Arc::new(resolver), |address| address.is_ipv6())).unwrap()
}

/// A server without `robots.txt`.
fn public_server(answer: impl Fn(&str) -> server::Answer + Send + Sync + 'static) -> Server {
    server_at("[::1]:0", answer)
}

fn private_server() -> Server {
    server_at("127.0.0.1:0", |_| html("secret"))
}

fn server_at(address: &str, answer: impl Fn(&str) -> server::Answer + Send + Sync + 'static) -> Server {
    Server::on(address, move |request, _| match request.path.as_str() {
        "/robots.txt" => status(404),
        path => answer(path),
    })
}

/// A public and a private server at the same port, so that one name can resolve to either. The public one has a sitemap with
/// the address `/role` of `docs.test`.
fn at_one_port() -> (Server, Server) {
    let port = (0..100)
        .map(|_| TcpListener::bind("[::1]:0").unwrap().local_addr().unwrap().port())
        .find(|port| TcpListener::bind(("127.0.0.1", *port)).is_ok())
        .unwrap();
    let public = server_at(&format!("[::1]:{port}"), move |path| match path {
        "/sitemap.txt" => with_headers(&[], format!("http://docs.test:{port}/role")),
        _ => html("page"),
    });
    (public, server_at(&format!("127.0.0.1:{port}"), |_| html("secret")))
}

fn url(name: &str, server: &Server, path: &str) -> Url {
    Url::parse(&format!("http://{name}:{}{path}", server.at("/").port().unwrap())).unwrap()
}

/// Reads a file as sitemaps are read, which redirects may lead to other sites.
async fn fetch(site: &Site, page: &Url) -> Result<Vec<u8>, FetchError> {
    let spec = FetchSpec { purpose: Purpose::Sitemap, version: None };
    match site.follow(page, &spec, Reach::PrivateAllowed).await? {
        (_, Reply::Content { bytes, .. }) => Ok(bytes),
        (_, other) => panic!("{other:?}"),
    }
}

#[track_caller]
fn assert_private(result: Result<Vec<u8>, FetchError>, url: &Url) {
    let expected = FetchError::PrivateAddress { site: url.origin().ascii_serialization(), address: PRIVATE };
    assert!(!expected.is_transient() && !expected.is_gone() && !expected.is_disallowed());
    assert_eq!(result, Err(expected));
}

#[tokio::test]
async fn a_host_that_becomes_private_after_robots_txt_is_refused() {
    for is_named in [false, true] {
        let (public, private) = at_one_port();
        let site = site(&[("docs.test", &[&[PUBLIC], &[PRIVATE]])]);
        let page = url("docs.test", &public, "/latest/meta-data");
        if is_named {
            site.allow_private_host(&page);
        }
        assert_private(fetch(&site, &page).await, &page);
        assert_eq!((public.count("/robots.txt"), private.requests().len()), (1, 0));
    }
}

#[tokio::test]
async fn a_named_host_that_changes_its_private_address_is_refused() {
    let (public, private) = at_one_port();
    let elsewhere = IpAddr::from([127, 0, 0, 2]);
    let site = site(&[("intranet.test", &[&[elsewhere], &[PRIVATE]])]);
    let page = url("intranet.test", &public, "/a");
    site.allow_private_host(&page);
    // Nothing listens at the first address.
    assert!(fetch(&site, &page).await.is_err());
    assert_private(fetch(&site, &page).await, &page);
    assert!(private.requests().is_empty());
}

#[tokio::test]
async fn a_host_with_public_and_private_addresses_is_contacted_at_public_ones_only() {
    let (public, private) = at_one_port();
    let site = site(&[("docs.test", &[&[PRIVATE, PUBLIC]])]);
    let page = url("docs.test", &public, "/a");
    site.allow_private_host(&page);
    assert!(fetch(&site, &page).await.is_ok());
    assert_eq!((public.requests().len(), private.requests().len()), (2, 0));
}

#[tokio::test]
async fn a_redirect_from_the_internet_never_contacts_a_private_network() {
    let private = private_server();
    let names: &[(&str, &[&[IpAddr]])] = &[("docs.test", &[&[PUBLIC]]), ("intranet.test", &[&[PRIVATE]])];
    let targets = [
        url("127.0.0.1", &private, "/a"),
        url("2130706433", &private, "/a"),
        url("0x7f.1", &private, "/a"),
        url("intranet.test", &private, "/a"),
    ];
    for target in targets {
        let location = target.clone();
        let public = public_server(move |_| redirect(&location));
        for target_is_named in [false, true] {
            let site = site(names);
            let page = url("docs.test", &public, "/a");
            site.allow_private_host(&page);
            if target_is_named {
                site.allow_private_host(&target);
            }
            assert_private(fetch(&site, &page).await, &target);
            assert!(private.requests().is_empty(), "{target}: not even its robots.txt");
        }
    }
}

#[tokio::test]
async fn robots_txt_that_redirects_into_a_private_network_forbids_everything() {
    let private = private_server();
    let target = private.at("/robots.txt");
    let public = Server::on("[::1]:0", move |_, _| redirect(&target));
    let error =
        fetch(&site(&[("docs.test", &[&[PUBLIC]])]), &url("docs.test", &public, "/a")).await.unwrap_err();
    assert!(
        matches!(&error, FetchError::RobotsUnreachable { reason, .. } if reason.contains("127.0.0.1")),
        "{error}"
    );
    assert!(private.requests().is_empty());
}

#[tokio::test]
async fn a_redirect_through_the_internet_back_to_a_private_network_is_refused() {
    let private = Arc::new(Mutex::new(None::<Url>));
    let target = Arc::clone(&private);
    let public = public_server(move |_| redirect(target.lock().unwrap().clone().unwrap()));
    let away = public.at("/b");
    let server = server_at("127.0.0.1:0", move |path| match path {
        "/a" => redirect(&away),
        _ => html("secret"),
    });
    let site = site(&[("intranet.test", &[&[PRIVATE]])]);
    let page = url("intranet.test", &server, "/a");
    let back = url("intranet.test", &server, "/c");
    *private.lock().unwrap() = Some(back.clone());
    site.allow_private_host(&page);
    assert_private(fetch(&site, &page).await, &back);
    assert_eq!((public.count("/b"), server.count("/c")), (1, 0));
    // The refusal is not cached: a direct request is allowed.
    assert_eq!(fetch(&site, &back).await.unwrap(), b"secret");
}

#[tokio::test]
async fn only_a_host_that_the_user_named_may_be_private() {
    let other = private_server();
    let elsewhere = url("other.test", &other, "/b");
    let target = elsewhere.clone();
    let server = server_at("127.0.0.1:0", move |path| match path {
        "/a" => redirect(&target),
        _ => html("page"),
    });
    let names: &[(&str, &[&[IpAddr]])] = &[("intranet.test", &[&[PRIVATE]]), ("other.test", &[&[PRIVATE]])];
    let page = url("intranet.test", &server, "/a");
    let unnamed = site(names);
    assert_private(fetch(&unnamed, &page).await, &page);
    assert!(server.requests().is_empty());
    let named = site(names);
    named.allow_private_host(&page);
    assert_eq!(fetch(&named, &url("intranet.test", &server, "/b")).await.unwrap(), b"page");
    assert_private(fetch(&named, &page).await, &elsewhere);
    assert!(other.requests().is_empty());
}

#[tokio::test]
async fn pages_of_a_public_sitemap_must_be_public() {
    let (public, private) = at_one_port();
    // The first two answers are for the sitemap and its robots.txt.
    let site = site(&[("docs.test", &[&[PUBLIC], &[PUBLIC], &[PRIVATE]])]);
    let listing = Listing::Sitemap(url("docs.test", &public, "/sitemap.txt"));
    let pages = site.addresses(&listing).await.unwrap().pages;
    assert_eq!(pages, [url("docs.test", &public, "/role")]);
    assert_private(fetch(&site, &pages[0]).await, &pages[0]);
    assert!(private.requests().is_empty());
}

#[tokio::test]
async fn hosts_of_a_list_count_as_named_by_the_user() {
    let server = server_at("127.0.0.1:0", |path| match path {
        "/sitemap.txt" => with_headers(&[], "http://elsewhere.test/"),
        _ => html("page"),
    });
    let site = site(&[("intranet.test", &[&[PRIVATE]])]);
    let listing = Listing::Sitemap(url("intranet.test", &server, "/sitemap.txt"));
    assert_eq!(site.addresses(&listing).await.unwrap().rejected.len(), 1);
    let listed = url("127.0.0.1", &server, "/a");
    assert_private(fetch(&site, &listed).await, &listed);
    site.addresses(&Listing::List(vec![listed.clone()])).await.unwrap();
    assert_eq!(fetch(&site, &listed).await.unwrap(), b"page");
}

#[tokio::test]
async fn the_error_for_a_sitemap_that_redirects_into_a_private_network_says_what_to_do() {
    let private = private_server();
    let target = private.at("/sitemap.xml");
    let public = public_server(move |_| redirect(&target));
    let listing = Listing::Sitemap(url("docs.test", &public, "/sitemap.xml"));
    let error = site(&[("docs.test", &[&[PUBLIC]])]).addresses(&listing).await.unwrap_err();
    assert!(matches!(&error, CrawlError::Unreadable { reason: FetchError::PrivateAddress { .. }, .. }));
    assert!(error.to_string().ends_with("name this address itself"), "{error}");
    assert!(private.requests().is_empty());
}
