import CTransferLinux
import Glibc
import Synchronization
public import TransferCore
import TransferEngine
import TransferEventLoop
import TransferJobs

/// One run of a hook's command. The process has its own group, reads the message on its standard input, and inherits no
/// secret and no descriptor.
final class CommandRun: Sendable {
    private enum Phase {
        case waiting
        /// The process runs. Its number cannot be reused before it has been waited for.
        case running(pid_t)
        case over
    }

    private struct State {
        var phase = Phase.waiting
        var isStopped = false
    }

    private let state = Mutex(State())

    /// The longest time that the command gets to end in order after it was asked to.
    private static let grace = Duration.seconds(1)
    /// The number of last bytes of the output that are kept to explain a failure.
    private static let outputKept = 2048
    /// The most bytes that are read between two checks of the clock.
    private static let readAtOnce = 256 << 10

    /// Ends the command, or keeps it from starting.
    func stop() {
        state.withLock { state in
            state.isStopped = true
            if case .running(let pid) = state.phase { kill(-pid, SIGTERM) }
        }
    }

    /// Runs the command to its end. Blocks, so it belongs on a worker thread.
    ///
    /// - Throws: `hookFailed`; the error is transient if another attempt may help.
    func run(
        _ command: HookCommand, named name: String, environment: [String: String], message: String
    ) throws(TransferError) {
        let input = try Self.file(with: message)
        defer { close(input) }
        let end = try end(of: command, name, environment, input: input, errors: nil, keeping: Self.outputKept)
        try Self.judge(end, name, command, words: Self.lastLine(of: end.output))
    }

    /// Runs a program without input to its end, and returns what it wrote to its standard output, which may be secret: no
    /// error contains any of it. Its standard error is discarded. Blocks, so it belongs on a worker thread.
    ///
    /// - Throws: `hookFailed`; the error is transient if another attempt may help.
    func output(
        of command: HookCommand, named name: String, environment: [String: String], limit: Int
    ) throws(TransferError) -> [UInt8] {
        let nothing = transfer_open("/dev/null", O_RDWR | O_CLOEXEC, 0)
        guard nothing >= 0 else { throw Self.failure("/dev/null cannot be opened") }
        defer { close(nothing) }
        let end = try end(of: command, name, environment, input: nothing, errors: nothing, keeping: limit + 1)
        try Self.judge(end, name, command, words: nil)
        guard end.output.count <= limit else {
            throw TransferError(
                .hookFailed, "the command \"\(name)\" wrote more than \(CountText.bytes(Int64(limit)))")
        }
        return end.output
    }

    /// Starts the program, and follows it to its end.
    ///
    /// - Parameter errors: The program's standard error; that of its standard output where it is `nil`.
    private func end(
        of command: HookCommand, _ name: String, _ environment: [String: String], input: Int32, errors: Int32?,
        keeping kept: Int
    ) throws(TransferError) -> End {
        let program: String
        do throws(HookCommand.Fault) {
            program = try command.program(path: environment["PATH"])
        } catch {
            throw TransferError(.hookFailed, "the command \"\(name)\" cannot be started: \(error.message)")
        }
        var ends: [Int32] = [-1, -1]
        guard transfer_pipe(&ends) == 0 else { throw Self.failure("no pipe can be made") }
        let (output, childs) = (ends[0], ends[1])
        defer { close(output) }
        let start = Self.start(
            program, command.arguments, environment, input: input, output: childs, errors: errors ?? childs)
        close(childs)
        try began(start, name)
        return follow(start.pid, output, for: command.timeLimit, keeping: kept)
    }

    private func began(_ start: (pid: pid_t, code: Int32), _ name: String) throws(TransferError) {
        guard start.code == 0 else {
            throw TransferError(
                .hookFailed, "the command \"\(name)\" cannot be started: \(String(cString: strerror(start.code)))",
                cause: .os(errno: start.code), isTransient: start.code == EAGAIN || start.code == ENOMEM)
        }
        began(start.pid)
    }

    // MARK: The start

    private static func file(with message: String) throws(TransferError) -> Int32 {
        let file = transfer_memory_file("message")
        guard file >= 0 else { throw failure("no memory for the message") }
        let bytes = Array(message.utf8)
        var written = 0
        while written < bytes.count {
            let count = bytes[written...].withUnsafeBytes { write(file, $0.baseAddress, $0.count) }
            guard count > 0 else {
                let error = failure("the message cannot be written")
                close(file)
                throw error
            }
            written += count
        }
        lseek(file, 0, SEEK_SET)
        return file
    }

    private static func failure(_ what: String) -> TransferError {
        TransferError(
            .hookFailed, "\(what): \(String(cString: strerror(errno)).lowercasedFirst)", cause: .os(errno: errno),
            isTransient: true)
    }

    private static func start(
        _ program: String, _ arguments: [String], _ environment: [String: String], input: Int32, output: Int32,
        errors: Int32
    ) -> (pid: pid_t, code: Int32) {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, input, 0)
        posix_spawn_file_actions_adddup2(&actions, output, 1)
        posix_spawn_file_actions_adddup2(&actions, errors, 2)
        _ = transfer_close_from(&actions, 3)
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        // The child gets default signal handling, whatever this process does with its own signals.
        var signals = sigset_t()
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        sigfillset(&signals)
        posix_spawnattr_setsigdefault(&attributes, &signals)
        posix_spawnattr_setpgroup(&attributes, 0)
        posix_spawnattr_setflags(
            &attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP))
        var pid = pid_t()
        let code = withStrings(arguments) { argv in
            withStrings(environment.map { "\($0.key)=\($0.value)" }) { envp in
                posix_spawn(&pid, program, &actions, &attributes, argv, envp)
            }
        }
        return (pid, code)
    }

    private static func withStrings<Result>(
        _ strings: [String], _ body: (UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) -> Result
    ) -> Result {
        var pointers = strings.map { strdup($0) } + [nil]
        defer { for pointer in pointers { free(pointer) } }
        return body(&pointers)
    }

    private func began(_ pid: pid_t) {
        state.withLock { state in
            state.phase = .running(pid)
            if state.isStopped { kill(-pid, SIGTERM) }
        }
    }

    // MARK: The end

    private struct End {
        var status: Int32 = 0
        var output: [UInt8] = []
        var tookTooLong = false
        var wasStopped = false
    }

    /// Reads the command's output until it has ended, and ends it when its time is over.
    private func follow(_ pid: pid_t, _ output: Int32, for limit: Duration, keeping kept: Int) -> End {
        var end = End()
        let process = transfer_pidfd(pid)
        defer { if process >= 0 { close(process) } }
        var deadline = MonotonicTime.now + limit
        var signal = SIGTERM
        while true {
            end.wasStopped = state.withLock { $0.isStopped }
            if end.wasStopped, signal == SIGTERM {
                signal = SIGKILL
                deadline = min(deadline, .now + Self.grace)
            }
            // Without a descriptor of the process (Linux before 5.3), only polling shows that it has ended.
            let left = max(0, (deadline - .now).inMilliseconds)
            let wait = Int32(clamping: process >= 0 && !end.wasStopped ? min(left, 200) : min(left, 20))
            var looks = [
                pollfd(fd: output, events: Int16(POLLIN), revents: 0),
                pollfd(fd: process, events: Int16(POLLIN), revents: 0),
            ]
            poll(&looks, nfds_t(looks.count), wait)
            // A descriptor that reports only its end would make `poll` return at once for ever.
            let isOpen = Self.read(output, into: &end.output, keeping: kept)
            if Self.hasEnded(pid) { break }
            if .now >= deadline {
                end.tookTooLong = end.tookTooLong || !end.wasStopped
                kill(-pid, signal)
                signal = SIGKILL
                deadline = .now + Self.grace
            } else if !isOpen {
                pollProcess(process, min(wait, 100))
            }
        }
        // Processes left in its group are killed too, while the number still belongs to this group.
        if end.tookTooLong || end.wasStopped { kill(-pid, SIGKILL) }
        state.withLock { $0.phase = .over }
        waitpid(pid, &end.status, 0)
        _ = Self.read(output, into: &end.output, keeping: kept)
        return end
    }

    /// Returns whether the process has ended. It is not reaped, so that its number stays reserved.
    private static func hasEnded(_ pid: pid_t) -> Bool {
        var info = siginfo_t()
        guard waitid(P_PID, id_t(pid), &info, WEXITED | WNOHANG | WNOWAIT) == 0 else { return errno == ECHILD }
        return info.si_signo != 0
    }

    private func pollProcess(_ process: Int32, _ wait: Int32) {
        var look = pollfd(fd: process, events: Int16(POLLIN), revents: 0)
        poll(&look, 1, wait)
    }

    /// Reads the available output, but at most ``readAtOnce``, so that endless output cannot defer the check of the
    /// time limit.
    ///
    /// - Returns: Whether more may come.
    private static func read(_ output: Int32, into kept: inout [UInt8], keeping most: Int) -> Bool {
        var piece = [UInt8](repeating: 0, count: 16 << 10)
        var total = 0
        while total < readAtOnce {
            let count = Glibc.read(output, &piece, piece.count)
            guard count > 0 else { return count < 0 && errno != 0 && (errno == EAGAIN || errno == EINTR) }
            total += count
            kept += piece[..<count].suffix(most)
            if kept.count > most { kept.removeFirst(kept.count - most) }
        }
        return true
    }

    private static func judge(
        _ end: End, _ name: String, _ command: HookCommand, words: String?
    ) throws(TransferError) {
        let signal = end.status & 0x7F
        let code = (end.status >> 8) & 0xFF
        let words = words.map { ": \($0)" } ?? ""
        if end.tookTooLong {
            let limit = DurationText.words(command.timeLimit)
            throw TransferError(
                .hookFailed, "the command \"\(name)\" was ended, it took longer than \(limit)\(words)",
                isTransient: true)
        }
        if end.wasStopped, end.status != 0 { throw TransferError(.cancelled, "the command \"\(name)\" was stopped") }
        if signal != 0 {
            throw TransferError(
                .hookFailed, "the command \"\(name)\" was ended by signal \(signal)\(words)", isTransient: true)
        }
        if code != 0 {
            throw TransferError(
                .hookFailed, "the command \"\(name)\" ended with status \(code)\(words)", isTransient: true)
        }
    }

    private static func lastLine(of output: [UInt8]) -> String? {
        let lines = output.split { $0 == 0x0A || $0 == 0x0D }
        guard let last = lines.last(where: { line in line.contains { $0 > 0x20 } }) else { return nil }
        let text = String(decoding: last, as: UTF8.self).unicodeScalars.filter { $0.value >= 0x20 && $0.value != 0x7F }
        return String(String(String.UnicodeScalarView(text)).prefix(200))
    }
}

extension TransferError.Code {
    /// The hook of an end (`onFinish`) could not be reached or failed.
    public static let hookFailed = Self(rawValue: "hookFailed")
}
