//! The modules of the program in a generation.

use slabscope_unwind::Module;
use slabscope_wire::alloc_free::data;

use super::Generation;
use crate::modules;

impl Generation<'_> {
    /// Writes all modules there were since the trace began.
    pub(super) fn write_modules(&mut self) {
        self.modules_changed = false;
        self.write_modules_if(|_| true);
    }

    /// Notes that modules have changed since this generation began.
    pub(crate) fn note_modules(&mut self) {
        self.modules_changed = true;
    }

    /// Writes those that have changed in this generation a second time.
    pub(super) fn write_modules_again(&mut self) {
        if core::mem::take(&mut self.modules_changed) {
            let start_ns = self.start_ns;
            self.write_modules_if(|module| module.changed_ns >= start_ns);
        }
    }

    fn write_modules_if(&mut self, is_to_be: impl Fn(&Module) -> bool) {
        let session = self.session;
        let Some(stacks) = session.stacks() else { return };
        let begun_ns = session.begun()[1].nanos;
        let mut batch = self.data(data::MODULES);
        stacks.unwinder().each_module(|module| {
            let gone = module.unloaded_ns != 0 && module.unloaded_ns < begun_ns;
            if !gone && is_to_be(module) {
                batch.record(|b| modules::write(b, module, begun_ns));
            }
        });
        batch.close();
    }
}
