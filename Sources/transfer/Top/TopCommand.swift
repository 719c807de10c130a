import ArgumentParser
import Glibc
import Synchronization
import TransferCore
import TransferEventLoop
import TransferQueue

/// The command `transfer top`.
struct Top: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show the live screen of a queue that other processes work on, until q or Ctrl-C.")

    @Argument(help: "The batch to show; all batches with work left by default.", completion: BatchCompletion.kind)
    var batch: String?

    @OptionGroup var place: QueuePlaceOptions

    func run() async throws {
        let terminal = Terminal(STDOUT_FILENO, environment: Composition.environment)
        guard terminal.canMoveCursor else {
            let hint = place.hint
            let words = batch.map { hint.command("status", $0) } ?? hint.command("status")
            let isService = if case .service = try place.place() { true } else { false }
            throw Failure(
                .wrongUsage,
                "standard output is no terminal with a cursor that moves: \(words)\(isService ? "" : " --follow") "
                    + "writes the state as lines")
        }
        let source: TopSource
        if let client = try place.client() {
            source = .service(client)
        } else {
            guard let remote = try Composition.remote(existing: place.place()) else {
                if let batch { throw place.hint.noBatch(batch) }
                for line in StatusTable.lines([], charset: .utf8) + UnitQueues.hints(place.hint) { print(line) }
                return
            }
            source = .queue(remote, place.hint)
        }
        // A fault of the first look is reported before the terminal changes.
        let first = try await source.look(batch)
        try await show(source, first, on: terminal)
    }

    private func show(_ source: TopSource, _ first: TopLook, on terminal: Terminal) async throws {
        let isStopped = StopFlag()
        Signals.handle { isStopped.set() }
        let keys = KeyReader()
        var output = TopOutput(terminal)
        defer {
            output.clear()
            keys?.restore()
            Signals.dieAtFirst()
        }
        let loop = try EventLoop(name: "top")
        defer { loop.stop() }
        var view = TopView()
        view.take(first, isAll: batch == nil)
        output.draw(view)
        var ticks = 0
        // Keys are looked at more often than the queue.
        for await _ in Ticks.every(.milliseconds(200), on: loop) {
            if isStopped.isSet || keys?.isEndAsked == true { return }
            ticks += 1
            if ticks.isMultiple(of: 5) { view.take(try await source.look(batch), isAll: batch == nil) }
            guard output.draw(view) else { return }
        }
    }
}

/// A mark that a signal sets.
final class StopFlag: Sendable {
    private let flag = Atomic(false)
    var isSet: Bool { flag.load(ordering: .relaxed) }
    func set() { flag.store(true, ordering: .relaxed) }
}

/// The frames of the live screen on standard output.
private struct TopOutput {
    private let terminal: Terminal
    private var frame = LiveFrame()
    private var last: [StyledLine]?
    private var lastWidth = 0

    init(_ terminal: Terminal) { self.terminal = terminal }

    /// Draws a frame.
    ///
    /// - Returns: Whether the terminal takes it.
    @discardableResult
    mutating func draw(_ view: TopView) -> Bool {
        let size = terminal.size
        let lines = view.frame(
            now: WallClock.milliseconds, width: size.width, height: size.height, charset: terminal.charset)
        // An equal frame needs no write.
        guard lines != last || size.width != lastWidth else { return true }
        (last, lastWidth) = (lines, size.width)
        print(frame.draw(lines, width: size.width, colors: terminal.hasColors), terminator: "")
        return StandardOutput.flush()
    }

    /// Removes the frame.
    mutating func clear() {
        print(frame.clear(width: terminal.size.width), terminator: "")
        _ = StandardOutput.flush()
    }
}

/// The keys that are typed while a screen is shown (termios(3)).
private struct KeyReader {
    private let usual: termios

    /// Lets keys come one by one, without an echo; `nil` where standard input is no terminal.
    init?() {
        var settings = termios()
        guard isatty(STDIN_FILENO) == 1, tcgetattr(STDIN_FILENO, &settings) == 0 else { return nil }
        usual = settings
        settings.c_lflag &= ~tcflag_t(ECHO | ICANON)
        guard tcsetattr(STDIN_FILENO, TCSANOW, &settings) == 0 else { return nil }
    }

    /// Whether `q` has been typed, or the terminal has ended.
    var isEndAsked: Bool {
        var poller = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
        while poll(&poller, 1, 0) > 0 {
            var byte: UInt8 = 0
            guard read(STDIN_FILENO, &byte, 1) == 1 else { return true }
            if byte == UInt8(ascii: "q") || byte == UInt8(ascii: "Q") { return true }
        }
        return false
    }

    func restore() {
        var usual = usual
        tcsetattr(STDIN_FILENO, TCSANOW, &usual)
    }
}
