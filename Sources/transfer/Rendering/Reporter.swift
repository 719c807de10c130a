import Glibc
import Synchronization
import TransferCore
import TransferEventLoop
import TransferQueue

/// Shows a run: takes every event of the queue and writes what the options ask for to standard error, standard output
/// and a report file.
///
/// `receive` is called on the queue's thread, thousands of times a second. It only changes values and fills buffers;
/// the live screen is drawn by a thread of its own, which exists only while there is one.
final class Reporter: Sendable {
    /// What events change; see `ReporterState`.
    private let state: Mutex<ReporterState>
    /// What draws the screen. Taken before `state` where both are.
    private let output: Mutex<ScreenOutput>
    private let areWaitsCancelled = Atomic(false)
    private let screenThread: ScreenThread?
    private let terminal: Terminal
    private let now: @Sendable () -> Int64

    /// - Parameters:
    ///   - terminal: What standard error is.
    ///   - standardOutput: Where JSON goes.
    ///   - now: The wall clock in milliseconds, for the countdowns of the screen.
    /// - Throws: `fileAccess` when the report file can't be opened.
    init(
        _ options: ReporterOptions, terminal: Terminal, standardOutput: Terminal,
        now: @escaping @Sendable () -> Int64 = Reporter.wallClock
    ) throws(TransferError) {
        // A reader that goes away is told by EPIPE; the command has no use for the signal anywhere.
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

    /// Takes an event; quick, unless a reader of standard output is megabytes behind.
    func receive(_ event: QueueEvent) {
        let isBehind = state.withLock { state in
            state.receive(event) { areWaitsCancelled.load(ordering: .relaxed) }
            return state.arrangesFlush()
        }
        if isBehind { flushLater() }
    }

    /// Whether somebody sees how single transfers go on.
    var showsTransfers: Bool { screenThread != nil || tellsProgress }

    /// Takes the progress of all transfers that others have under way: a screen shows them, and no other ones.
    func show(_ transfers: [QueueEvent]) {
        let isBehind = state.withLock { state in
            state.show(transfers) { areWaitsCancelled.load(ordering: .relaxed) }
            return state.arrangesFlush()
        }
        if isBehind { flushLater() }
    }

    /// Takes what a watched folder told; as quick.
    func receive(_ notice: WatchNotice) {
        let isBehind = state.withLock { state in
            state.receive(notice) { areWaitsCancelled.load(ordering: .relaxed) }
            return state.arrangesFlush()
        }
        if isBehind { flushLater() }
    }

    /// Nobody knows when the next event comes: what this one left in the buffers is written without it.
    private func flushLater() {
        Task.detached { [weak self] in
            var isBehind = true
            while isBehind {
                // The delay is what is wanted: lines that come meanwhile are written in one piece.
                try? await Task.sleep(for: .milliseconds(BufferedOutput.interval))
                guard let self else { return }
                isBehind = flushLate()
            }
        }
    }

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

    /// Closes the report's file and opens it by its name, for logrotate(8).
    func reopenReport() {
        guard hasReport else { return }
        do throws(TransferError) {
            try state.withLock { (state) throws(TransferError) in try state.reopenReport() }
        } catch {
            note(.error, "\(error.message); the report goes on in the file that was open")
        }
    }

    /// To be called before the run.
    ///
    /// - Parameters:
    ///   - batches: What batches are called where people read it, by their names.
    ///   - hint: For the commands that are told.
    func call(_ batches: [String: String], _ hint: CommandHint) { state.withLock { $0.call(batches, hint) } }

    /// How the watched folders stand, in a line.
    func watchStatus() -> String {
        let time = now()
        return state.withLock { $0.board.status(at: time) }
    }

    /// Shows a line of the command's own, above the screen or in the log.
    func note(_ level: LogLine.Level, _ text: String) {
        let time = now()
        state.withLock { state in
            state.add([LogLine(level: level, time: time, text: terminal.charset.visible(text))])
            state.flush(time: time, now: true) { areWaitsCancelled.load(ordering: .relaxed) }
        }
    }

    /// From now on no slow reader is waited for: to be called when the process is asked to end.
    func cancelWaits() { areWaitsCancelled.store(true, ordering: .relaxed) }

    /// Takes the screen away, tells about batches that this run leaves unfinished, and writes what is buffered.
    ///
    /// To be called once, when no event will come any more.
    /// - Parameter commands: By batch, for the line that tells how to continue.
    func finish(commands: [String: String] = [:]) {
        cancelWaits()
        let isFree = screenThread?.stop() ?? true
        let time = now()
        state.withLock { state in state.finish(commands: commands, time: time) }
        if screenThread != nil, isFree { draw(isLast: true) }
        state.withLock { state in state.flushAll() }
    }

    /// Writes what a screen would show next; only the screen's thread and `finish` do.
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
        // The same again needs no write; a new size is rare enough to wait for the next change.
        guard lines != last || !above.isEmpty else { return }
        last = lines
        output.append(frame.draw(lines, above: above, width: width, colors: colors))
        output.flush(patience: isLast ? 1000 : -1)
    }
}
