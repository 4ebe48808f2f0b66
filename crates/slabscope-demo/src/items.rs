//! What one source file declares and says.

use std::fmt;

use anyhow::Result;
use syn::visit::{self, Visit};
use syn::{Attribute, Expr, ExprLit, Ident, Lit, Meta};

/// What is declared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum ItemKind {
    /// A function, a method included.
    Function,
    /// A struct.
    Struct,
    /// An enum.
    Enum,
    /// A variant of an enum.
    Variant,
    /// A trait.
    Trait,
    /// A type alias.
    Alias,
    /// A constant or a static.
    Constant,
    /// A module.
    Module,
    /// A macro.
    Macro,
}

impl fmt::Display for ItemKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            ItemKind::Function => "functions",
            ItemKind::Struct => "structs",
            ItemKind::Enum => "enums",
            ItemKind::Variant => "variants",
            ItemKind::Trait => "traits",
            ItemKind::Alias => "aliases",
            ItemKind::Constant => "constants",
            ItemKind::Module => "modules",
            ItemKind::Macro => "macros",
        })
    }
}

/// One declaration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Item {
    /// Its name.
    pub(crate) name: String,
    /// What it is.
    pub(crate) kind: ItemKind,
    /// The line it stands on, from 1.
    pub(crate) line: usize,
}

/// All of one file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Found {
    /// In the order of the file.
    pub(crate) items: Vec<Item>,
    /// The words of its doc comments, in lower case.
    pub(crate) words: Vec<String>,
    /// Calls of functions and methods, by name.
    pub(crate) calls: Vec<String>,
}

/// Takes a source text apart.
///
/// # Errors
/// When it is not Rust that `syn` knows.
pub(crate) fn parse(source: &str) -> Result<Found> {
    let file = syn::parse_file(source)?;
    let mut found = Found::default();
    found.visit_file(&file);
    Ok(found)
}

impl Found {
    fn item(&mut self, name: &Ident, kind: ItemKind) {
        let line = name.span().start().line;
        self.items.push(Item { name: name.to_string(), kind, line });
    }
}

impl<'ast> Visit<'ast> for Found {
    fn visit_attribute(&mut self, attribute: &'ast Attribute) {
        if let Meta::NameValue(meta) = &attribute.meta
            && meta.path.is_ident("doc")
            && let Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) = &meta.value
        {
            let text = text.value();
            let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| word.len() > 3);
            self.words.extend(words.map(str::to_lowercase));
        }
        visit::visit_attribute(self, attribute);
    }

    fn visit_signature(&mut self, signature: &'ast syn::Signature) {
        self.item(&signature.ident, ItemKind::Function);
        visit::visit_signature(self, signature);
    }

    fn visit_item_struct(&mut self, item: &'ast syn::ItemStruct) {
        self.item(&item.ident, ItemKind::Struct);
        visit::visit_item_struct(self, item);
    }

    fn visit_item_enum(&mut self, item: &'ast syn::ItemEnum) {
        self.item(&item.ident, ItemKind::Enum);
        visit::visit_item_enum(self, item);
    }

    fn visit_variant(&mut self, variant: &'ast syn::Variant) {
        self.item(&variant.ident, ItemKind::Variant);
        visit::visit_variant(self, variant);
    }

    fn visit_item_trait(&mut self, item: &'ast syn::ItemTrait) {
        self.item(&item.ident, ItemKind::Trait);
        visit::visit_item_trait(self, item);
    }

    fn visit_item_type(&mut self, item: &'ast syn::ItemType) {
        self.item(&item.ident, ItemKind::Alias);
        visit::visit_item_type(self, item);
    }

    fn visit_item_const(&mut self, item: &'ast syn::ItemConst) {
        self.item(&item.ident, ItemKind::Constant);
        visit::visit_item_const(self, item);
    }

    fn visit_item_static(&mut self, item: &'ast syn::ItemStatic) {
        self.item(&item.ident, ItemKind::Constant);
        visit::visit_item_static(self, item);
    }

    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        self.item(&item.ident, ItemKind::Module);
        visit::visit_item_mod(self, item);
    }

    fn visit_item_macro(&mut self, item: &'ast syn::ItemMacro) {
        if let Some(name) = &item.ident {
            self.item(name, ItemKind::Macro);
        }
        visit::visit_item_macro(self, item);
    }

    fn visit_expr_method_call(&mut self, call: &'ast syn::ExprMethodCall) {
        self.calls.push(call.method.to_string());
        visit::visit_expr_method_call(self, call);
    }

    fn visit_expr_call(&mut self, call: &'ast syn::ExprCall) {
        if let Expr::Path(path) = &*call.func
            && let Some(last) = path.path.segments.last()
        {
            self.calls.push(last.ident.to_string());
        }
        visit::visit_expr_call(self, call);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_taken_apart() {
        let source = "//! Counts sheep.\n\
            /// A flock of them.\n\
            pub struct Flock(u32);\n\
            impl Flock {\n    fn count(&self) -> u32 { self.0.max(one()) }\n}\n\
            enum Sheep { Black }\n";
        let found = parse(source).unwrap();
        let items: Vec<_> =
            found.items.iter().map(|item| (item.name.as_str(), item.kind, item.line)).collect();
        assert_eq!(
            items,
            [
                ("Flock", ItemKind::Struct, 3),
                ("count", ItemKind::Function, 5),
                ("Sheep", ItemKind::Enum, 7),
                ("Black", ItemKind::Variant, 7),
            ]
        );
        assert_eq!(found.words, ["counts", "sheep", "flock", "them"]);
        assert_eq!(found.calls, ["max", "one"]);
        assert!(parse("fn (").is_err());
    }
}
