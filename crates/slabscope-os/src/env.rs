//! The environment, read without allocating or taking libc's lock.

use core::ffi::{CStr, c_char};

use crate::file::Errno;
use crate::own_memory;

unsafe extern "C" {
    static environ: *const *const c_char;
}

/// The value of variable `name`, copied into `buffer`; `None` when it is not set.
///
/// A value longer than `buffer` is cut, and `Some(len)` then equals the buffer's length.
pub fn copy(name: &[u8], buffer: &mut [u8]) -> Option<usize> {
    let mut index = 0;
    loop {
        let entry = entry(index)?.to_bytes();
        if let Some(value) = entry.strip_prefix(name).and_then(|rest| rest.strip_prefix(b"=")) {
            let len = value.len().min(buffer.len());
            buffer.get_mut(..len)?.copy_from_slice(value.get(..len)?);
            return Some(len);
        }
        index += 1;
    }
}

fn entry(index: usize) -> Option<&'static CStr> {
    // SAFETY: `environ` is null or an array that a null ends; all entries before `index` were not
    // null. A thread that changes the environment meanwhile is a race of the program with every
    // reader of it (as std documents); entries themselves are never freed by libc.
    let entry = unsafe {
        if environ.is_null() {
            return None;
        }
        *environ.add(index)
    };
    if entry.is_null() {
        return None;
    }
    // SAFETY: a non-null entry is a C string.
    Some(unsafe { CStr::from_ptr(entry) })
}

/// As [`copy`], for a thread that reads while another may change the environment: what is torn or
/// gone reads as not there, and nothing faults.
///
/// # Errors
/// When the kernel does not let a process read its own memory that way.
pub fn copy_guarded(name: &[u8], buffer: &mut [u8]) -> Result<Option<usize>, Errno> {
    let mut word = [0; 8];
    let place = (&raw const environ).addr();
    own_memory::read(place, &mut word)?;
    let mut array = usize::from_ne_bytes(word);
    while array != 0 {
        let mut entries = [0; 64 * 8];
        let len = own_memory::read(array, &mut entries)?;
        let (entries, _) = entries.get(..len).unwrap_or_default().as_chunks::<8>();
        for entry in entries {
            match usize::from_ne_bytes(*entry) {
                0 => return Ok(None),
                entry => {
                    if let Some(len) = value_at(entry, name, buffer)? {
                        return Ok(Some(len));
                    }
                }
            }
        }
        // An array that leads nowhere was given up while we read it.
        array = if entries.is_empty() { 0 } else { array + entries.len() * 8 };
    }
    Ok(None)
}

/// The value in the text at `address`, if that is `name`'s.
fn value_at(address: usize, name: &[u8], buffer: &mut [u8]) -> Result<Option<usize>, Errno> {
    const NAME_MAX: usize = 64;
    let mut start = [0; NAME_MAX];
    let len = name.len() + 1;
    let Some(start) = start.get_mut(..len) else { return Ok(None) };
    if own_memory::read(address, start)? < len || start.split_last() != Some((&b'=', name)) {
        return Ok(None);
    }
    let len = own_memory::read(address + len, buffer)?;
    let value = buffer.get(..len).unwrap_or_default();
    Ok(Some(value.iter().position(|&byte| byte == 0).unwrap_or(len)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ways_read_the_same() {
        for name in ["PATH", "CARGO_MANIFEST_DIR", "NOBODY_SETS_THIS"] {
            let (mut plain, mut guarded) = ([0; 4096], [0; 4096]);
            let len = copy(name.as_bytes(), &mut plain);
            assert_eq!(copy_guarded(name.as_bytes(), &mut guarded), Ok(len), "{name}");
            assert_eq!(plain[..len.unwrap_or(0)], guarded[..len.unwrap_or(0)]);
        }
    }
}
