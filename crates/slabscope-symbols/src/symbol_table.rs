//! The symbols of a file: names where there is no debug information.

use std::sync::Arc;

use object::{Object, ObjectSymbol, SymbolKind};

/// Functions by address.
#[derive(Debug, Default)]
pub(crate) struct SymbolTable {
    /// Sorted by address, one an address.
    symbols: Vec<Symbol>,
}

#[derive(Debug)]
struct Symbol {
    address: u64,
    /// In bytes; 0 where the file does not tell.
    size: u64,
    name: Arc<str>,
    /// How many other functions the linker or compiler put at the same place.
    others: u32,
}

impl SymbolTable {
    /// The functions of these files, the first to name an address counts.
    pub(crate) fn new<'data>(files: &[&object::File<'data>]) -> SymbolTable {
        let mut symbols = Vec::new();
        for file in files {
            for symbol in file.symbols().chain(file.dynamic_symbols()) {
                let is_code = matches!(symbol.kind(), SymbolKind::Text | SymbolKind::Unknown);
                if !is_code || symbol.is_undefined() || symbol.address() == 0 {
                    continue;
                }
                if let Ok(name) = symbol.name()
                    && !name.is_empty()
                {
                    let (address, size) = (symbol.address(), symbol.size());
                    symbols.push(Symbol { address, size, name: name.into(), others: 0 });
                }
            }
        }
        // A stable sort: a size is better than none, and otherwise the first stays.
        symbols.sort_by_key(|symbol| (symbol.address, symbol.size == 0));
        symbols.dedup_by(|later, first| {
            let is_same = later.address == first.address;
            first.others += u32::from(is_same && later.name != first.name && later.size != 0);
            is_same
        });
        SymbolTable { symbols }
    }

    /// The function at this address, and whether others are at the same place.
    pub(crate) fn at(&self, address: u64) -> Option<(&Arc<str>, bool)> {
        let next = self.symbols.partition_point(|symbol| symbol.address <= address);
        let symbol = self.symbols.get(next.checked_sub(1)?)?;
        let is_inside = symbol.size == 0 || address - symbol.address < symbol.size;
        is_inside.then_some((&symbol.name, symbol.others > 0))
    }

    /// Whether there is none.
    pub(crate) fn is_empty(&self) -> bool {
        self.symbols.is_empty()
    }
}
