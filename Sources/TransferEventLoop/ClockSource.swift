import CTransferLinux
import Glibc
import Synchronization

/// The reader of all clocks of the process: the system's (clock_gettime(2)), or a simulation's virtual time.
package enum ClockSource {
    /// A function that returns the nanoseconds of a clock (`clockid_t`). Any thread may call it.
    package typealias Reader = @convention(c) (Int32) -> Int64

    private static let system: Reader = { transfer_clock($0) }
    private static let reader = Atomic(bits(of: system))

    /// Returns the nanoseconds of a clock.
    static func read(_ clock: clockid_t) -> Int64 {
        unsafeBitCast(reader.load(ordering: .relaxed), to: Reader.self)(clock)
    }

    /// Replaces the reader for the rest of the process, before the first loop is made.
    package static func replace(_ new: @escaping Reader) { reader.store(bits(of: new), ordering: .relaxed) }

    private static func bits(of reader: @escaping Reader) -> UInt { unsafeBitCast(reader, to: UInt.self) }
}
