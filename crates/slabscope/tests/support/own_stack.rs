//! A signal handler on a stack of its own.

use std::ffi::c_int;

/// Handles a signal on a stack of so many bytes that is the handler's own.
pub(crate) fn interrupt(handler: extern "C" fn(c_int), bytes: usize) {
    let mut stack = vec![0_u8; bytes];
    // SAFETY: the handler comes while this thread waits for it; its stack outlives it.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = handler as *const () as usize;
        action.sa_flags = libc::SA_ONSTACK;
        let own =
            libc::stack_t { ss_sp: stack.as_mut_ptr().cast(), ss_flags: 0, ss_size: stack.len() };
        let none = libc::stack_t { ss_sp: std::ptr::null_mut(), ss_flags: libc::SS_DISABLE, ..own };
        let mut before = none;
        assert_eq!(libc::sigaltstack(&raw const own, &raw mut before), 0);
        assert_eq!(libc::sigaction(libc::SIGUSR1, &raw const action, std::ptr::null_mut()), 0);
        libc::pthread_kill(libc::pthread_self(), libc::SIGUSR1);
        assert_eq!(libc::sigaltstack(&raw const before, std::ptr::null_mut()), 0);
    }
}
