// `stdout` is a variable in C, which no code sets.
@preconcurrency import Glibc
import Synchronization

/// Standard output, whose readers are programs, and whether all of it could be written.
enum StandardOutput {
    /// The `errno` of the first failed write. A reader that closed the pipe (EPIPE) has seen what it wanted.
    private static let failure = Atomic<Int32>(0)

    static func note(failure number: Int32) {
        guard number != EPIPE, number != 0 else { return }
        _ = failure.compareExchange(expected: 0, desired: number, ordering: .relaxed)
    }

    private static let lacksReport = Atomic(false)

    /// Notes that the file of `--report` is incomplete, which has been reported.
    static func noteReport() { lacksReport.store(true, ordering: .relaxed) }

    /// Writes the buffered output of `print`.
    ///
    /// - Returns: Whether a reader takes it.
    static func flush() -> Bool {
        errno = 0
        // The reason is known now, and would be lost by the end.
        guard fflush(stdout) == 0 else {
            note(failure: errno)
            return false
        }
        return ferror(stdout) == 0
    }

    /// Writes the buffered output of `print`, and reports missing output.
    ///
    /// - Returns: Whether all output was written, also into the file of `--report`.
    static func settle() -> Bool {
        errno = 0
        // The reason of an earlier failed write may be lost by now.
        if fflush(stdout) != 0 || ferror(stdout) != 0 { note(failure: errno == 0 ? EIO : errno) }
        let number = failure.load(ordering: .relaxed)
        guard number != 0 else { return !lacksReport.load(ordering: .relaxed) }
        StandardError.write("transfer: standard output is incomplete: \(BufferedOutput.reason(number))\n")
        return false
    }
}
