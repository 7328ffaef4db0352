//! Calls as spans of OpenTelemetry.

use oxmox::http::{Live, Settings};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::TcpListener;
use tokio::sync::mpsc;

use super::http::serve_as;
use super::world;

const TRACE: &str = "0af7651916cd43dd8448eb211c80319c";
const SPAN: &str = "00f067aa0ba902b7";

/// A collector: its address, and what it is sent.
async fn collector() -> (String, mpsc::UnboundedReceiver<Value>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/v1/traces", listener.local_addr().unwrap());
    let (tell, told) = mpsc::unbounded_channel();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let mut stream = BufReader::new(stream);
            let (mut length, mut line) = (0, String::new());
            while stream.read_line(&mut line).await.unwrap() > 2 {
                if let Some(given) = line.to_lowercase().strip_prefix("content-length: ") {
                    length = given.trim().parse().unwrap();
                }
                line.clear();
            }
            let mut body = vec![0; length];
            stream.read_exact(&mut body).await.unwrap();
            let answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}";
            stream.write_all(answer.as_bytes()).await.unwrap();
            tell.send(serde_json::from_slice(&body).unwrap()).unwrap();
        }
    });
    (url, told)
}

#[tokio::test]
async fn a_call_is_a_span_in_the_trace_of_its_client() {
    let world = world().await;
    let (url, mut told) = collector().await;
    let settings = Settings {
        otlp_url: Some(url),
        ..Settings::default()
    };
    let served = serve_as(&world, Live::new(&settings).unwrap()).await;
    let flags = [("01", 105), ("01", 4711), ("00", 105)];
    for (flag, vmid) in flags {
        let meta = json!({"traceparent": format!("00-{TRACE}-{SPAN}-{flag}"), "tracestate": "a=b"});
        let call = json!({"name": "get_proxmox_vm_status", "arguments": {"vmid": vmid}});
        served.ask_with("tools/call", call, &meta, &[]).await;
    }
    // The end sends what is left.
    served.stop.cancel();
    served.task.await.unwrap().unwrap();
    let sent = told.recv().await.unwrap();
    let resource = &sent["resourceSpans"][0];
    let spans = resource["scopeSpans"][0]["spans"].as_array().unwrap();
    assert_eq!(spans.len(), 2, "{sent}");
    for span in spans {
        assert_eq!(span["traceId"], TRACE);
        assert_eq!(span["parentSpanId"], SPAN);
        assert_eq!(span["traceState"], "a=b");
        assert_eq!(span["name"], "tools/call get_proxmox_vm_status");
        assert_eq!(span["spanId"].as_str().unwrap().len(), 16);
    }
    assert_eq!(spans[0]["status"], json!({}));
    assert_eq!(spans[1]["status"], json!({"code": 2}));
    assert!(spans[1]["attributes"].to_string().contains("not_found"));
}
