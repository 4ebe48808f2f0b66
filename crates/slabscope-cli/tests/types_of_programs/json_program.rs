//! A program that reads and writes JSON: as values of any shape, and as types of its own.

use std::collections::{BTreeMap, HashMap};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

/// A customer's order.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Order {
    id: u64,
    customer: String,
    lines: Vec<Line>,
    notes: Option<Box<str>>,
    by_region: BTreeMap<String, f64>,
    #[serde(flatten)]
    rest: HashMap<String, Value>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Line {
    article: String,
    count: u32,
    price: f64,
    tags: Vec<String>,
    delivery: Delivery,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "kind")]
enum Delivery {
    Post { address: String },
    Pickup { shop: Box<Shop> },
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Shop {
    name: String,
    hours: [u8; 14],
}

const HOURS: [u8; 14] = [9; 14];

fn order(id: u64) -> Value {
    let lines: Vec<Value> = (0..id % 9).map(|line| self::line(id, line)).collect();
    json!({
        "id": id,
        "customer": format!("customer \"{}\" of the northern branch", id % 97),
        "lines": lines,
        "notes": if id.is_multiple_of(3) { Value::Null } else { json!("leave it \u{e4}t the door\n") },
        "by_region": { "north": id as f64 / 3.0, "south": 1.5, "west": id },
        "channel": if id.is_multiple_of(2) { "web" } else { "shop" },
        "history": [[id, "created"], [id + 1, "paid"], [id + 2, "sent"]],
    })
}

fn line(id: u64, line: u64) -> Value {
    let delivery = match line % 2 {
        0 => json!({ "kind": "Post", "address": format!("{id} Long Street, Some Town") }),
        _ => json!({ "kind": "Pickup", "shop": { "name": "corner", "hours": HOURS } }),
    };
    json!({
        "article": format!("article-{}", id * 31 % 1000),
        "count": line + 1,
        "price": 9.99 * line as f64,
        "tags": ["new", "on sale", "fragile"],
        "delivery": delivery,
    })
}

/// Makes orders, writes them, and reads them back in every way.
pub(crate) fn run() {
    let all = Value::Array((0..2000).map(order).collect());
    let pretty = serde_json::to_string_pretty(&all).unwrap();
    let compact = serde_json::to_vec(&all).unwrap();
    let values: Value = serde_json::from_str(&pretty).unwrap();
    let orders: Vec<Order> = serde_json::from_slice(&compact).unwrap();
    assert_eq!(orders.len(), 2000);
    let objects: Vec<Map<String, Value>> = serde_json::from_reader(&compact[..]).unwrap();
    let again: Vec<Order> = serde_json::from_value(values.clone()).unwrap();
    let raw = serde_json::to_value(&again).unwrap();
    assert_eq!(raw.as_array().map(Vec::len), Some(objects.len()));
    let mut totals: HashMap<String, (f64, Vec<u64>)> = HashMap::new();
    for order in orders.iter().cloned() {
        let total = order.lines.iter().map(|line| line.price * f64::from(line.count)).sum::<f64>();
        let entry = totals.entry(order.customer).or_default();
        entry.0 += total;
        entry.1.push(order.id);
    }
    let mut sorted: Vec<_> = totals.into_iter().collect();
    sorted.sort_by(|a, b| a.0.cmp(&b.0));
    assert!(!serde_json::to_string(&sorted).unwrap().is_empty());
    assert!(serde_json::from_str::<Value>("[1, {\"a\": tru]").is_err());
}
