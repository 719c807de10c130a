internal import Dispatch
public import Foundation
internal import Glibc
internal import Synchronization

/// A running process, whose output can be followed line by line, which can receive signals, and which has a time limit.
public final class ChildProcess: Sendable {
    public enum StandardInput: Sendable {
        /// The standard input is `/dev/null`.
        case none
        case data(Data)
        /// The standard input is a pipe that stays open: `send(_:)`, `closeStandardInput()`.
        case open
    }

    public struct Command: Sendable {
        public var executable: String
        public var arguments: [String]
        /// The whole environment; no variable is inherited.
        public var environment: [String: String]
        public var workingFolder: String?
        public var standardInput = StandardInput.none
        /// The time after which the process is killed, and awaiting its result throws.
        public var timeout: Duration
        /// Whether the largest resident set is recorded, which reads `/proc` every 10 ms. (`getrusage` would also count
        /// the memory of the test runner that starts the child.)
        public var measuresMemory = false

        public init(
            _ executable: String, _ arguments: [String] = [],
            environment: [String: String] = ProcessInfo.processInfo.environment, workingFolder: String? = nil,
            timeout: Duration = .seconds(60)
        ) {
            self.executable = executable
            self.arguments = arguments
            self.environment = environment
            self.workingFolder = workingFolder
            self.timeout = timeout
        }
    }

    public enum Stream: Sendable {
        case standardOutput, standardError
    }

    private struct State {
        var isReaped = false
        var timedOut = false
        var result: ProcessResult?
        var waiters: [CheckedContinuation<ProcessResult, Never>] = []
        var peakMemory: Int64 = 0
    }

    public let processID: Int32
    private let started: ContinuousClock.Instant
    private let command: Command
    private let state = Mutex(State())
    /// The descriptor of the pipe; -1 once it is closed.
    private let inputDescriptor: Mutex<Int32>
    private let output = LineLog()
    private let error = LineLog()

    public static func start(_ command: Command) throws -> ChildProcess {
        // A write to a child that has ended must fail in that call, and not end the test runner.
        _ = Glibc.signal(SIGPIPE, SIG_IGN)
        return try ChildProcess(command)
    }

    private init(_ command: Command) throws {
        self.command = command
        let outputPipe = try PipeEnds()
        let errorPipe = try PipeEnds()
        let inputPipe: PipeEnds? = if case .none = command.standardInput { nil } else { try PipeEnds() }
        started = .now
        do {
            processID = try SpawnedChild.spawn(
                command.executable, command.arguments, environment: command.environment,
                workingFolder: command.workingFolder, input: inputPipe?.reading, output: outputPipe.writing,
                error: errorPipe.writing)
        } catch {
            for pipe in [outputPipe, errorPipe, inputPipe] { pipe?.closeBoth() }
            throw error
        }
        close(outputPipe.writing)
        close(errorPipe.writing)
        if let inputPipe { close(inputPipe.reading) }
        inputDescriptor = Mutex(inputPipe?.writing ?? -1)
        OrphanGuard.shared.add(processID)
        follow(outputFrom: outputPipe.reading, errorFrom: errorPipe.reading)
    }

    /// Threads, because each of them blocks: two read, one waits for the end, one for the end or the time limit, one
    /// may write.
    private func follow(outputFrom: Int32, errorFrom: Int32) {
        let streams = DispatchGroup()
        for (descriptor, log) in [(outputFrom, output), (errorFrom, error)] {
            streams.enter()
            Thread.detachNewThread {
                PipeEnds.drain(descriptor, into: log)
                streams.leave()
            }
        }
        if case .data(let data) = command.standardInput {
            Thread.detachNewThread { [self] in
                _ = send(data)
                closeStandardInput()
            }
        }
        let ended = DispatchSemaphore(value: 0)
        Thread.detachNewThread { [self] in watch(until: ended) }
        Thread.detachNewThread { [self] in
            reap(streams: streams)
            ended.signal()
        }
    }

    /// Enforces the time limit, and records the memory of the process.
    private func watch(until ended: DispatchSemaphore) {
        let deadline = started + command.timeout
        while true {
            let left = deadline - ContinuousClock.now
            let pause = command.measuresMemory ? min(left, .milliseconds(10)) : left
            if ended.wait(timeout: .now() + pause.dispatchInterval) == .success { return }
            if let peak = ProcessFacts.peakMemory(processID) {
                state.withLock { $0.peakMemory = max($0.peakMemory, peak) }
            }
            if ContinuousClock.now >= deadline { break }
        }
        state.withLock { $0.timedOut = !$0.isReaped }
        kill(SIGKILL)
    }

    private func reap(streams: DispatchGroup) {
        // The process keeps its number until its status is taken, so `kill` cannot hit another process.
        var information = siginfo_t()
        while waitid(P_PID, id_t(processID), &information, WEXITED | WNOWAIT) < 0, errno == EINTR {}
        let duration = ContinuousClock.now - started
        var status: Int32 = 0
        var usage = rusage()
        state.withLock { state in
            while wait4(processID, &status, 0, &usage) < 0, errno == EINTR {}
            state.isReaped = true
        }
        OrphanGuard.shared.remove(processID)
        // A grandchild may hold the pipes open. Its later output is discarded.
        _ = streams.wait(timeout: .now() + 5)
        output.end()
        error.end()
        closeStandardInput()
        let waiters = state.withLock { state in
            state.result = ProcessResult(
                status: status & 0x7F == 0 ? .exited((status >> 8) & 0xFF) : .signalled(status & 0x7F),
                standardOutputData: output.bytes, standardErrorData: error.bytes, duration: duration,
                processorTime: Duration(usage.ru_utime) + Duration(usage.ru_stime),
                peakMemory: command.measuresMemory ? state.peakMemory : nil)
            defer { state.waiters = [] }
            return state.waiters
        }
        let result = state.withLock { $0.result }
        for waiter in waiters { if let result { waiter.resume(returning: result) } }
    }

    /// Sends a signal; has no effect once the process has ended.
    public func kill(_ signal: Int32) {
        state.withLock { state in
            if !state.isReaped { _ = Glibc.kill(processID, signal) }
        }
    }

    public var isRunning: Bool { state.withLock { !$0.isReaped } }

    /// Writes to the standard input of a command that was started with `.open`.
    ///
    /// - Returns: `false` if the process no longer reads.
    @discardableResult
    public func send(_ data: Data) -> Bool {
        inputDescriptor.withLock { $0 >= 0 && PipeEnds.writeAll(data, to: $0) }
    }

    public func closeStandardInput() {
        inputDescriptor.withLock { descriptor in
            if descriptor >= 0 { close(descriptor) }
            descriptor = -1
        }
    }

    /// Returns all lines of a stream from the beginning, including those written before this call.
    public func lines(_ stream: Stream) -> OutputLines {
        OutputLines(log: stream == .standardOutput ? output : error)
    }

    /// Returns the first matching line of the stream, counted from its beginning.
    ///
    /// - Throws: An error if the process ends without such a line.
    @discardableResult
    public func line(_ stream: Stream = .standardError, where matches: (String) -> Bool) async throws -> String {
        for await line in lines(stream) where matches(line) { return line }
        try Task.checkCancellation()
        throw TestSupportError("no line of \(stream) matched; the process: \(try await result())")
    }

    /// Waits for the end. Cancellation of the task does not end the wait, but the process has its time limit.
    ///
    /// - Throws: An error if the process was killed at its time limit; an exit status other than 0 is no error.
    public func result() async throws -> ProcessResult {
        let result = await withCheckedContinuation { continuation in
            let known = state.withLock { state in
                if state.result == nil { state.waiters.append(continuation) }
                return state.result
            }
            if let known { continuation.resume(returning: known) }
        }
        if state.withLock({ $0.timedOut }) {
            throw TestSupportError(
                "\(command.executable) \(command.arguments) was killed after \(command.timeout): \(result)")
        }
        return result
    }
}

extension Duration {
    fileprivate init(_ time: timeval) {
        self = .seconds(time.tv_sec) + .microseconds(time.tv_usec)
    }

    fileprivate var dispatchInterval: DispatchTimeInterval {
        .milliseconds(Int(components.seconds) * 1000 + Int(components.attoseconds / 1_000_000_000_000_000) + 1)
    }
}
