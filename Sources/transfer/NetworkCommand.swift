import ArgumentParser
import Glibc
import TransferCore
import TransferEventLoop
import TransferQueue
import TransferReachability

struct NetworkCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "network", abstract: "What a queue sees of this machine's network.",
        discussion: """
            Links, their addresses and the ways out, as the kernel tells them. IPV4 and IPV6 are the metrics of default \
            routes: the smaller is preferred. A link is metered where "links" of the configuration says so, where NetworkManager \
            does, or by its kind: a modem, or a telephone that shares its connection. "sends by" is the kernel's congestion control, and \
            the one for links that lose packets. With --follow a line tells of each change, as soon as the kernel does.
            """)

    @Flag(help: "Go on with a line for each change, until interrupted.")
    var follow = false

    @Flag(help: "JSON on standard output: an object for each state of the network.")
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
                output.write(NetworkChanges.lines(from: last, to: snapshot).map { "\(time) \(charset.visible($0))" })
            }
            last = snapshot
            // Nothing more will come.
            if !snapshot.isKnown { return }
        }
    }

    private var charset: Charset { Terminal(STDOUT_FILENO, environment: Composition.environment).charset }

    private func state(_ snapshot: NetworkSnapshot) -> [String] {
        json
            ? [NetworkTable.json(snapshot, time: WallClock.milliseconds, congestion: .current)]
            : NetworkTable.lines(snapshot, charset: charset, congestion: .current)
    }
}

/// Lines that are read as they come: written at once.
private struct LineOutput {
    let descriptor: Int32

    /// A reader that went away has seen what it wanted.
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

/// Tells when the reader of a pipe is gone, though nothing is written to it.
private final class ReaderClosed: Sendable {
    private let loop: EventLoop?

    init(of descriptor: Int32, _ action: @escaping @Sendable () -> Void) throws {
        var status = stat()
        // Others, such as a terminal or a file, have no reader that could go.
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
