import Foundation
import Glibc
import TransferTestSupport

/// A network namespace for one test, with a sysfs that shows it. It ends with its processes.
///
/// A shell runs in it, and executes the lines of its standard input.
final class NetworkNamespace {
    private let shell: ChildProcess
    private var output: OutputLines.Iterator
    private var commands = 0

    /// Whether this user may make a namespace (as root, and where users may), or the tests require it.
    static let isAllowed: Bool = {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/unshare")
        process.arguments = entering + ["/bin/sh", "-c", "\(setUp) && ip link set lo up"]
        process.standardError = nil
        guard (try? process.run()) != nil else { return NetworkNamespaces.areRequired }
        process.waitUntilExit()
        if process.terminationStatus != 0 {
            print("SKIPPED: no network namespaces here, so the monitor is not tried on the kernel")
        }
        return process.terminationStatus == 0 || NetworkNamespaces.areRequired
    }()

    private static let isRoot = getuid() == 0
    private static let entering = (isRoot ? [] : ["--user", "--map-root-user"]) + ["--net", "--mount"]
    private static let setUp = "PATH=$PATH:/usr/sbin:/sbin; mount -t sysfs sysfs /sys"

    init() async throws {
        let script = "\(Self.setUp) && echo ready && exec /bin/sh"
        var command = ChildProcess.Command("/usr/bin/unshare", Self.entering + ["/bin/sh", "-c", script])
        command.standardInput = .open
        shell = try ChildProcess.start(command)
        output = shell.lines(.standardOutput).makeAsyncIterator()
        guard await output.next() == "ready" else {
            throw TestSupportError("no namespace: \(try await shell.result())")
        }
    }

    deinit { shell.closeStandardInput() }

    /// Runs lines of a shell, each of which must succeed.
    ///
    /// - Returns: The output of the lines.
    @discardableResult
    func run(_ script: String) async throws -> [String] {
        commands += 1
        let mark = "=\(commands)"
        // The script runs in a subshell, so that a failure ends the script and not the namespace.
        shell.send(Data("(set -e\n\(script)\n) 2>&1 </dev/null; echo \(mark) $?\n".utf8))
        var lines: [String] = []
        while let line = await output.next() {
            if line == "\(mark) 0" { return lines }
            if line.hasPrefix(mark) { break }
            lines.append(line)
        }
        throw TestSupportError("\(script): \(lines.joined(separator: "\n"))")
    }

    /// Makes the two ends of a cable. The first end has the given address, and no automatic one.
    func makeLink(_ name: String, _ address: String? = nil) async throws {
        try await run(
            """
            ip link add name \(name) type veth peer name \(name)p
            ip link set \(name) addrgenmode none
            ip link set \(name)p addrgenmode none
            ip link set \(name)p up
            ip link set \(name) up
            """)
        if let address { try await run("ip address add \(address) dev \(name)") }
    }

    /// Starts a program in the namespace.
    func start(_ executable: String, _ arguments: [String], environment: [String: String] = [:]) throws -> ChildProcess
    {
        let user = Self.isRoot ? [] : ["--user", "--preserve-credentials"]
        let words = ["--target", "\(shell.processID)", "--net", "--mount"] + user + [executable] + arguments
        var command = ChildProcess.Command("/usr/bin/nsenter", words)
        command.environment.merge(environment) { $1 }
        command.standardInput = .open
        return try ChildProcess.start(command)
    }

    func probe(_ arguments: String..., environment: [String: String] = [:]) throws -> ProbeProcess {
        try ProbeProcess(
            start(TransferCommand.builtProduct("network-probe"), arguments, environment: environment))
    }
}

/// A running `network-probe`, read line by line.
final class ProbeProcess {
    let process: ChildProcess
    private var output: OutputLines.Iterator

    init(_ process: ChildProcess) {
        self.process = process
        output = process.lines(.standardOutput).makeAsyncIterator()
    }

    deinit { process.closeStandardInput() }

    func ask(_ question: String) { process.send(Data((question + "\n").utf8)) }

    func next() async throws -> ProbeLine {
        guard let line = await output.next() else {
            throw TestSupportError("the probe has ended: \(try await process.result())")
        }
        return ProbeLine(line)
    }

    /// Returns the next line that satisfies a condition, and skips the lines before it.
    @discardableResult
    func until(_ matches: (ProbeLine) -> Bool) async throws -> ProbeLine {
        while true {
            let line = try await next()
            if matches(line) { return line }
        }
    }

    @discardableResult
    func until(_ status: String) async throws -> ProbeLine { try await until { $0["status"] == status } }

    /// Returns for each thread how often it slept and was woken.
    func wakes() throws -> [String: Int] {
        let folder = "/proc/\(process.processID)/task"
        var counts: [String: Int] = [:]
        for thread in try FileManager.default.contentsOfDirectory(atPath: folder) {
            let status = try String(contentsOfFile: "\(folder)/\(thread)/status", encoding: .utf8)
            let line = status.split(separator: "\n").first { $0.hasPrefix("voluntary_ctxt_switches") }
            counts[thread] = line?.split(separator: "\t").last.flatMap { Int($0) }
        }
        return counts
    }
}

/// Words of `key=value`.
struct ProbeLine: CustomStringConvertible {
    let description: String
    private let words: [String: String]

    init(_ text: String) {
        description = text
        let pairs = text.split(separator: " ").map { $0.split(separator: "=", maxSplits: 1).map(String.init) }
        words = Dictionary(pairs.map { ($0[0], $0.count > 1 ? $0[1] : "") }) { $1 }
    }

    subscript(_ key: String) -> String? { words[key] }

    /// The fields of a link: index, kind, kind of its carrier, up, carrier, state, MTU, metering, addresses.
    func link(_ name: String) -> [String] { words["link.\(name)"]?.components(separatedBy: ",") ?? [] }
}
