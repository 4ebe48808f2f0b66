//! Where a thread stands: the registers that unwinding begins from.

/// The registers of one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Registers {
    /// Address of the instruction.
    pub pc: usize,
    /// The stack pointer.
    pub sp: usize,
    /// The frame pointer, or whatever else the register holds.
    pub bp: usize,
}

impl Registers {
    /// Those of the function that calls this, which the compiler makes part of it.
    #[inline(always)]
    #[cfg(target_arch = "x86_64")]
    pub fn here() -> Registers {
        let (pc, sp, bp);
        // SAFETY: three registers are read; nothing else is touched.
        unsafe {
            core::arch::asm!(
                "lea {pc}, [rip]",
                "mov {sp}, rsp",
                "mov {bp}, rbp",
                pc = lateout(reg) pc,
                sp = lateout(reg) sp,
                bp = lateout(reg) bp,
                options(nomem, nostack, preserves_flags),
            );
        }
        Registers { pc, sp, bp }
    }

    /// On CPUs whose stacks nobody here can read: nothing.
    #[inline(always)]
    #[cfg(not(target_arch = "x86_64"))]
    pub fn here() -> Registers {
        Registers::default()
    }
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::*;

    #[test]
    fn they_are_the_callers() {
        let local = 0_u8;
        let here = Registers::here();
        let near = |a: usize, b: usize| a.abs_diff(b) < 4096;
        assert!(near(here.sp, (&raw const local).addr()), "{here:?}");
        assert!(here.pc.abs_diff(Registers::here as *const () as usize) < 64 << 20);
    }
}
