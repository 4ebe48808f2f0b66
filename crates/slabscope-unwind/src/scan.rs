//! Finding modules that were loaded or unloaded.

use slabscope_os::file::Errno;
use slabscope_os::maps::{self, Mapping};

use crate::image::Image;
use crate::memory::{Growing, Scratch, Zeroed};
use crate::module::{Found, Module};
use crate::rules::{MODULES_MAX, Rules};

/// Room for lines of the kernel's list.
const LINES: usize = 32 << 10;

// SAFETY: it is made of numbers and bytes.
unsafe impl Zeroed for Module {}

/// The modules found so far.
pub(crate) struct Scanner {
    modules: Option<Growing<Module>>,
    /// Whether the last scan found changes. One that was keeping an old rule at that moment took it back
    /// since, but who met it in between may have kept what follows from it.
    had_changed: bool,
    /// Modules that the last scan had no room for.
    left_out: u32,
}

/// What one scan knows.
struct Scan<'a> {
    rules: &'a Rules,
    modules: &'a mut Growing<Module>,
    now_ns: u64,
    /// Which modules were seen.
    seen: [bool; MODULES_MAX],
    /// What begins at a mapping of a file's first byte, until it turns out to have code there.
    begun: Option<(usize, Image)>,
    changed: bool,
    /// Modules there was no room for.
    left_out: u32,
}

impl Scanner {
    pub(crate) const fn new() -> Self {
        Scanner { modules: None, had_changed: false, left_out: 0 }
    }

    /// Modules that the last scan had no room for.
    pub(crate) fn left_out(&self) -> u32 {
        self.left_out
    }

    /// All modules that were ever found.
    pub(crate) fn modules(&self) -> &[Module] {
        self.modules.as_ref().map_or(&[], Growing::as_slice)
    }

    /// Looks at what is loaded now; whether that has changed.
    ///
    /// # Errors
    /// When the kernel does not say, or there is no memory.
    pub(crate) fn scan(&mut self, rules: &Rules, now_ns: u64) -> Result<bool, Errno> {
        if self.modules.is_none() {
            self.modules = Growing::new(MODULES_MAX);
        }
        let modules = self.modules.as_mut().ok_or(Errno::NO_MEMORY)?;
        let mut lines = Scratch::new(LINES).ok_or(Errno::NO_MEMORY)?;
        let seen = [false; MODULES_MAX];
        let mut scan =
            Scan { rules, modules, now_ns, seen, begun: None, changed: false, left_out: 0 };
        let looked = maps::each(lines.as_mut_slice(), |mapping| scan.take(mapping));
        if looked.is_ok() {
            scan.end_those_unseen();
        }
        let changed = scan.changed;
        self.left_out = scan.left_out;
        if changed || self.had_changed {
            rules.forget();
        }
        self.had_changed = changed;
        looked.map(|_| changed)
    }
}

impl Scan<'_> {
    fn take(&mut self, mapping: &Mapping<'_>) {
        let is_file = mapping.inode != 0 || mapping.path == b"[vdso]";
        if !is_file {
            return;
        }
        let inside =
            |&(_, image): &(usize, Image)| (image.first..image.end).contains(&mapping.start);
        if mapping.offset == 0 && !self.begun.as_ref().is_some_and(inside) {
            self.begun = None;
            if self.see(mapping) {
                return;
            }
            self.begun = Image::read(mapping.start).map(|image| (mapping.start, image));
        }
        if mapping.executable
            && let Some((start, image)) = self.begun.take_if(|begun| inside(begun))
        {
            let found = Found { start, inode: mapping.inode, path: mapping.path };
            self.add(&image, &found);
        }
    }

    /// Whether what begins here is loaded already, and noted as seen if so.
    fn see(&mut self, mapping: &Mapping<'_>) -> bool {
        let mut modules = self.modules.as_slice().iter();
        let known = modules.position(|module| module.unloaded_ns == 0 && module.is(mapping));
        if let Some(seen) = known.and_then(|number| self.seen.get_mut(number)) {
            *seen = true;
        }
        known.is_some()
    }

    /// A module that was not there before, or is there again.
    fn add(&mut self, image: &Image, found: &Found<'_>) {
        match self.try_add(image, found) {
            Some(()) => self.changed = true,
            None => self.left_out += 1,
        }
    }

    /// `None` when there is no room for it; the next scan finds it anew.
    fn try_add(&mut self, image: &Image, found: &Found<'_>) -> Option<()> {
        let mut modules = self.modules.as_mut_slice().iter_mut();
        if let Some(again) = modules.find(|module| module.is_again(image, found)) {
            (again.unloaded_ns, again.changed_ns) = (0, self.now_ns);
            let number = again.id as usize - 1;
            self.rules.set_end(number, image.end);
            if let Some(seen) = self.seen.get_mut(number) {
                *seen = true;
            }
            return Some(());
        }
        let table = image.table()?;
        let overlaps = |module: &Module| module.first < image.end && image.first < module.end;
        if self.modules.as_slice().iter().any(overlaps) {
            self.rules.begin_era();
        }
        let number = self.rules.publish(image.first, image.end, table)?;
        self.modules.push(Module::EMPTY)?;
        if let Some(module) = self.modules.as_mut_slice().get_mut(number) {
            module.fill(number as u32 + 1, image, found, self.now_ns);
        }
        if let Some(seen) = self.seen.get_mut(number) {
            *seen = true;
        }
        Some(())
    }

    fn end_those_unseen(&mut self) {
        let modules = self.modules.as_mut_slice().iter_mut();
        for (number, (module, seen)) in modules.zip(self.seen).enumerate() {
            if !seen && module.unloaded_ns == 0 {
                (module.unloaded_ns, module.changed_ns) = (self.now_ns, self.now_ns);
                self.rules.set_end(number, 0);
                self.changed = true;
            }
        }
    }
}
