// `stdout` is a variable in C, which nobody sets.
@preconcurrency import Glibc
import Synchronization

/// What programs read, and whether all of it could be written.
enum StandardOutput {
    /// The `errno` of the first write that failed. A reader that went away (EPIPE) has what it wanted.
    private static let failure = Atomic<Int32>(0)

    static func note(failure number: Int32) {
        guard number != EPIPE, number != 0 else { return }
        _ = failure.compareExchange(expected: 0, desired: number, ordering: .relaxed)
    }

    private static let lacksReport = Atomic(false)

    /// The file that `--report` names is incomplete; that has been told.
    static func noteReport() { lacksReport.store(true, ordering: .relaxed) }

    /// Writes what `print` has gathered.
    ///
    /// - Returns: Whether somebody takes it.
    static func flush() -> Bool {
        errno = 0
        // The reason is known now, and lost by the end.
        guard fflush(stdout) == 0 else {
            note(failure: errno)
            return false
        }
        return ferror(stdout) == 0
    }

    /// Writes what `print` has gathered, and tells of what is missing.
    ///
    /// - Returns: Whether all was written, also into the file of `--report`.
    static func settle() -> Bool {
        errno = 0
        // An earlier piece may have failed whose reason is lost by now.
        if fflush(stdout) != 0 || ferror(stdout) != 0 { note(failure: errno == 0 ? EIO : errno) }
        let number = failure.load(ordering: .relaxed)
        guard number != 0 else { return !lacksReport.load(ordering: .relaxed) }
        StandardError.write("transfer: standard output is incomplete: \(BufferedOutput.reason(number))\n")
        return false
    }
}
