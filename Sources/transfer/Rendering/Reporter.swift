import Glibc
import Synchronization
import TransferCore
import TransferEventLoop
import TransferQueue

/// The output of a run: it takes every event of the queue and writes to standard error, standard output and a report
/// file.
///
/// `receive` is called on the queue's thread, thousands of times a second. It only changes values and fills buffers. A
/// separate thread draws the live screen, and exists only while there is one.
final class Reporter: Sendable {
    /// The state that events change (`ReporterState`).
    private let state: Mutex<ReporterState>
    /// The output that draws the screen. It is locked before `state` where both are needed.
    private let output: Mutex<ScreenOutput>
    private let areWaitsCancelled = Atomic(false)
    private let screenThread: ScreenThread?
    private let terminal: Terminal
    private let now: @Sendable () -> Int64

    /// Creates a reporter.
    ///
    /// - Parameters:
    ///   - terminal: The terminal of standard error.
    ///   - standardOutput: The destination of JSON.
    ///   - now: A closure that returns the wall-clock time in milliseconds, for the countdowns of the screen.
    /// - Throws: `fileAccess` when the report file cannot be opened.
    init(
        _ options: ReporterOptions, terminal: Terminal, standardOutput: Terminal,
        now: @escaping @Sendable () -> Int64 = Reporter.wallClock
    ) throws(TransferError) {
        // EPIPE reports a closed pipe; the command needs the signal nowhere.
        signal(SIGPIPE, SIG_IGN)
        self.terminal = terminal
        self.now = now
        let showsScreen = options.showsScreen(
            on: terminal, sharesScreen: options.json != .off && standardOutput.isTerminal)
        var report: BufferedOutput?
        if let path = options.reportFile { report = try BufferedOutput(appendingTo: path) }
        hasReport = options.reportFile != nil
        tellsProgress = options.json == .withProgress
        let json = options.json == .off ? nil : BufferedOutput(descriptor: standardOutput.descriptor)
        state = Mutex(
            ReporterState(
                options: options, terminal: terminal, showsScreen: showsScreen, json: json, report: report))
        output = Mutex(ScreenOutput(terminal))
        screenThread = showsScreen ? ScreenThread() : nil
        if let screenThread, !screenThread.start({ [weak self] in self?.draw() ?? false }) {
            state.withLock { $0.giveUpScreen() }
        }
    }

    /// Takes an event. The call is quick, unless a reader of standard output is megabytes behind.
    func receive(_ event: QueueEvent) {
        let isBehind = state.withLock { state in
            state.receive(event) { areWaitsCancelled.load(ordering: .relaxed) }
            return state.arrangesFlush()
        }
        if isBehind { flushLater() }
    }

    /// Whether the progress of single transfers is shown.
    var showsTransfers: Bool { screenThread != nil || tellsProgress }

    /// Takes the progress of all transfers of other processes: a screen shows only these.
    func show(_ transfers: [QueueEvent]) {
        let isBehind = state.withLock { state in
            state.show(transfers) { areWaitsCancelled.load(ordering: .relaxed) }
            return state.arrangesFlush()
        }
        if isBehind { flushLater() }
    }

    /// Takes an event of a watched folder. The call is as quick as that for other events.
    func receive(_ notice: WatchNotice) {
        let isBehind = state.withLock { state in
            state.receive(notice) { areWaitsCancelled.load(ordering: .relaxed) }
            return state.arrangesFlush()
        }
        if isBehind { flushLater() }
    }

    /// Arranges a later flush: the time of the next event is unknown, so buffered output must be written without it.
    private func flushLater() {
        Task.detached { [weak self] in
            var isBehind = true
            while isBehind {
                // The delay is intended: lines that come meanwhile are written in one piece.
                try? await Task.sleep(for: .milliseconds(BufferedOutput.interval))
                guard let self else { return }
                isBehind = flushLate()
            }
        }
    }

    /// Flushes the buffers.
    ///
    /// - Returns: Whether a slow reader has left something.
    private func flushLate() -> Bool {
        let time = now()
        return state.withLock { state in
            state.flush(time: time, now: true) { areWaitsCancelled.load(ordering: .relaxed) }
            return state.goesOnFlushing()
        }
    }

    /// Whether progress goes to standard output (`--json=progress`).
    private let tellsProgress: Bool

    /// Whether ends of jobs go to a file (`--report`).
    let hasReport: Bool

    /// Closes the report file and opens it again by its name, for logrotate(8).
    func reopenReport() {
        guard hasReport else { return }
        do throws(TransferError) {
            try state.withLock { (state) throws(TransferError) in try state.reopenReport() }
        } catch {
            note(.error, "\(error.message); the report continues in the file that was open")
        }
    }

    /// Sets the names of batches, before the run.
    ///
    /// - Parameters:
    ///   - batches: The names for people, by the batches' full names.
    ///   - hint: The builder of commands in messages.
    func call(_ batches: [String: String], _ hint: CommandHint) { state.withLock { $0.call(batches, hint) } }

    /// Returns the state of the watched folders, as one line.
    func watchStatus() -> String {
        let time = now()
        return state.withLock { $0.board.status(at: time) }
    }

    /// Shows a line of the command itself, above the screen or in the log.
    func note(_ level: LogLine.Level, _ text: String) {
        let time = now()
        state.withLock { state in
            state.add([LogLine(level: level, time: time, text: terminal.charset.visible(text))])
            state.flush(time: time, now: true) { areWaitsCancelled.load(ordering: .relaxed) }
        }
    }

    /// Stops waiting for slow readers, because the process has been asked to end.
    func cancelWaits() { areWaitsCancelled.store(true, ordering: .relaxed) }

    /// Removes the screen, reports the batches that this run leaves unfinished, and writes the buffers.
    ///
    /// The caller calls the method once, after the last event.
    ///
    /// - Parameter commands: The commands that continue the batches, by batch.
    func finish(commands: [String: String] = [:]) {
        cancelWaits()
        let isFree = screenThread?.stop() ?? true
        let time = now()
        state.withLock { state in state.finish(commands: commands, time: time) }
        if screenThread != nil, isFree { draw(isLast: true) }
        state.withLock { state in state.flushAll() }
    }

    /// Writes the next frame of the screen; only the screen's thread and `finish` do.
    ///
    /// - Returns: Whether something moves on it.
    @discardableResult
    private func draw(isLast: Bool = false) -> Bool {
        let size = terminal.size
        let time = now()
        return output.withLock { output in
            let (screen, lines) = state.withLock { state in (state.screen, state.takeLines()) }
            let frame =
                isLast
                ? [] : screen?.frame(now: time, width: size.width, height: size.height, charset: terminal.charset) ?? []
            output.draw(frame, above: lines, width: size.width, isLast: isLast)
            return screen.map { !$0.jobs.isEmpty } ?? false
        }
    }

    static let wallClock: @Sendable () -> Int64 = { WallClock.milliseconds }
}

/// The terminal below the live screen.
private struct ScreenOutput: ~Copyable {
    private var frame = LiveFrame()
    private var output: BufferedOutput
    private let colors: Bool
    private var last: [StyledLine]?

    init(_ terminal: Terminal) {
        output = BufferedOutput(descriptor: terminal.descriptor)
        colors = terminal.hasColors
    }

    mutating func draw(_ lines: [StyledLine], above: [StyledLine], width: Int, isLast: Bool) {
        // An equal frame needs no write; a new size is rare enough to wait for the next change.
        guard lines != last || !above.isEmpty else { return }
        last = lines
        output.append(frame.draw(lines, above: above, width: width, colors: colors))
        output.flush(patience: isLast ? 1000 : -1)
    }
}
