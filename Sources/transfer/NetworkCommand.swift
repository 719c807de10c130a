import ArgumentParser
import Glibc
import TransferCore
import TransferEventLoop
import TransferQueue
import TransferReachability

struct NetworkCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "network", abstract: "Show what a queue sees of this machine's network.",
        discussion: """
            The table shows the links, their addresses and their routes to the outside, as the kernel reports them. \
            IPV4 and IPV6 are the metrics of default routes: the smaller is preferred. "sends by" is the kernel's \
            congestion control, and the one for links that lose packets.

            A link is metered where "links" of the configuration or NetworkManager says so, or by its kind: a modem, \
            or a telephone that shares its connection.

            With --follow, a line reports each change, as soon as the kernel reports it.
            """)

    @Flag(help: "Add a line for each change, until interrupted.")
    var follow = false

    @Flag(help: "Write JSON to standard output: an object for each state of the network.")
    var json = false

    @OptionGroup var configuration: ConfigurationOptions

    func run() async throws {
        var options = NetworkMonitor.Options()
        options.meteredRule = MeteredRule(links: try configuration.load().meteredLinks)
        let monitor = NetworkMonitor(options: options)
        let output = LineOutput(descriptor: STDOUT_FILENO)
        guard follow else { return output.write(state(monitor.current)) }
        let hangUp = try ReaderClosed(of: STDOUT_FILENO) { ExitStatus.exit(.complete) }
        defer { withExtendedLifetime(hangUp) {} }
        var last: NetworkSnapshot?
        for await snapshot in monitor.snapshots() {
            if json || last == nil { output.write(state(snapshot)) }
            if !json, let last {
                let time = TimeText.local(WallClock.milliseconds)
                output.write(
                    NetworkChanges.lines(from: last, to: snapshot).map { "\(time) \(terminal.charset.visible($0))" })
            }
            last = snapshot
            // No further state will come.
            if !snapshot.isKnown { return }
        }
    }

    private var terminal: Terminal { Terminal(STDOUT_FILENO, environment: Composition.environment) }

    private func state(_ snapshot: NetworkSnapshot) -> [String] {
        json
            ? [NetworkTable.json(snapshot, time: WallClock.milliseconds, congestion: .current)]
            : NetworkTable.lines(
                snapshot, charset: terminal.charset, congestion: .current, width: terminal.tableWidth)
    }
}

/// An output of lines that are written at once, for a reader that follows them.
private struct LineOutput {
    let descriptor: Int32

    /// Writes lines. A reader that has closed the pipe has seen what it wanted.
    func write(_ lines: [String]) {
        var text = lines.map { $0 + "\n" }.joined()
        text.withUTF8 { bytes in
            var rest = UnsafeRawBufferPointer(bytes)
            while !rest.isEmpty {
                let count = Glibc.write(descriptor, rest.baseAddress, rest.count)
                if count < 0, errno == EINTR { continue }
                guard count > 0 else {
                    StandardOutput.note(failure: errno)
                    ExitStatus.exit(.complete)
                }
                rest = UnsafeRawBufferPointer(rebasing: rest[count...])
            }
        }
    }
}

/// A watch for the end of a pipe's reader, which works without writing.
private final class ReaderClosed: Sendable {
    private let loop: EventLoop?

    init(of descriptor: Int32, _ action: @escaping @Sendable () -> Void) throws {
        var status = stat()
        // Other outputs, such as a terminal or a file, have no reader that could end.
        guard fstat(descriptor, &status) == 0, [S_IFIFO, S_IFSOCK].contains(status.st_mode & S_IFMT) else {
            loop = nil
            return
        }
        let loop = try EventLoop(name: "output")
        self.loop = loop
        loop.execute {
            loop.register(descriptor, for: []) { events in if events.contains(.failed) { action() } }
        }
    }

    deinit { loop?.stop() }
}
