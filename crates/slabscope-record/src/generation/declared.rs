//! The types that the program declared, of sites that a generation names.

use slabscope_os::say::Decimal;
use slabscope_wire::alloc_free::data;
use slabscope_wire::buffer::Buffer;
use slabscope_wire::live::name::LEN_MAX;

use super::Generation;
use crate::encode::DataBatch;
use crate::session::Session;
use crate::site::Site;

impl Generation<'_> {
    /// Writes the types of the sites noted since the last call, and names that this generation does not
    /// have.
    pub(super) fn write_declared(&mut self) {
        let (session, number, start_ns) = (self.session, self.number, self.start_ns);
        let of = |number: u32| session.site(number).map_or(0, |(site, _)| site.declared);
        if self.sites.new_ones().all(|site| of(site) == 0) {
            return;
        }
        let scratch = self.scratch.as_mut_slice();
        let mut batch = DataBatch::new(&mut self.out, number, start_ns, data::TYPE_NAMES, scratch);
        let (sites, names) = self.sites.new_ones_and_names();
        for declared in sites.map(of).filter(|&declared| declared != 0) {
            let mut bytes = [0; LEN_MAX];
            if names.mark(declared.into())
                && let Some(name) = session.type_names().get(declared, &mut bytes)
            {
                batch.record(|b| b.varint(declared.into()) && b.text(name));
            }
        }
        batch.close();
        let scratch = self.scratch.as_mut_slice();
        let mut batch = DataBatch::new(&mut self.out, number, start_ns, data::TYPED_SITES, scratch);
        for site in self.sites.new_ones() {
            let declared = of(site);
            if declared != 0 {
                batch.record(|b| b.varint(site.into()) && b.varint(declared.into()));
            }
        }
        batch.close();
    }
}

/// Writes the name that Go's consumers see for a site.
pub(super) fn name(b: &mut Buffer<'_>, session: &Session, site: Site) -> bool {
    let mut bytes = [0; LEN_MAX];
    if let Some(name) = session.type_names().get(site.declared, &mut bytes) {
        return b.text(name);
    }
    let (size, align) = (Decimal::new(site.size), Decimal::new(site.align));
    let parts = ["size ", size.as_str(), " align ", align.as_str()];
    let len: usize = parts.iter().map(|part| part.len()).sum();
    b.varint(len as u64) && parts.iter().all(|part| b.bytes(part.as_bytes()))
}
