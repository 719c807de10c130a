internal import Foundation
internal import Glibc

/// One network namespace of a `TestNetwork`, in which commands run and whose links can be changed.
public final class TestNamespace: Sendable {
    public let name: String

    init(name: String) { self.name = name }

    /// Returns the command in a form that runs in the namespace. `/etc/resolv.conf` is its own there, and `/sys` shows
    /// its links.
    public func command(_ command: ChildProcess.Command) throws -> ChildProcess.Command {
        var inside = command
        inside.executable = try NetworkNamespaces.ip()
        inside.arguments = ["netns", "exec", name, command.executable] + command.arguments
        return inside
    }

    /// Runs lines of `ip -batch` in order. On return the kernel has carried them out.
    ///
    /// - Throws: An error at the first line that fails; the lines before it have taken effect.
    public func ip(_ lines: String...) async throws { try await ip(lines) }

    public func ip(_ lines: [String]) async throws {
        var command = ChildProcess.Command(try NetworkNamespaces.ip(), ["-n", name, "-batch", "-"], environment: [:])
        command.standardInput = .data(Data((lines.joined(separator: "\n") + "\n").utf8))
        let result = try await ChildProcess.start(command).result()
        guard result.exitCode == 0 else { throw TestSupportError("ip \(lines.prefix(10)): \(result)") }
    }

    /// Runs a script of `sh` in the namespace, and returns its output.
    ///
    /// - Throws: An error if its status is not 0.
    @discardableResult
    public func run(_ script: String) async throws -> String {
        let result = try await start(script).result()
        guard result.exitCode == 0 else { throw TestSupportError("\(script): \(result)") }
        return result.standardOutput
    }

    /// Starts a script of `sh` in the namespace.
    public func start(_ script: String) throws -> ChildProcess {
        try ChildProcess.start(
            command(
                ChildProcess.Command(
                    "/bin/sh", ["-e", "-c", script], environment: ["PATH": NetworkNamespaces.searchPath])))
    }

    private func facts(_ link: String) async throws -> JSONValue {
        let command = ChildProcess.Command(
            try NetworkNamespaces.ip(), ["-n", name, "-json", "-statistics", "link", "show", "dev", link],
            environment: [:])
        let result = try await ChildProcess.start(command).result()
        guard let facts = try JSONValue.parse(result.standardOutputData)[0] else {
            throw TestSupportError("nothing about \(link): \(result)")
        }
        return facts
    }

    /// Waits until a link that was set up carries packets.
    func carries(_ link: String) async throws {
        for _ in 0..<1000 where try await facts(link)["operstate"]?.string == "UP" { return }
        throw TestSupportError("\(link) has no carrier")
    }

    /// Returns the kernel's counters of a link since it was made.
    public func traffic(_ link: String) async throws -> LinkTraffic {
        guard let counts = try await facts(link)["stats64"], let sent = counts["tx"], let received = counts["rx"] else {
            throw TestSupportError("no statistics of \(link)")
        }
        return LinkTraffic(
            sentPackets: sent["packets"]?.int ?? 0, sentBytes: sent["bytes"]?.int ?? 0,
            receivedPackets: received["packets"]?.int ?? 0, receivedBytes: received["bytes"]?.int ?? 0)
    }

    /// Sets the name servers for processes of the namespace, from their next read of `/etc/resolv.conf` on. Each server
    /// is asked once, with a timeout of one second.
    public func setNameServers(_ addresses: [String]) throws {
        let lines = addresses.map { "nameserver \($0)\n" }.joined() + "options timeout:1 attempts:1\n"
        // The file is written in place, since processes see it through a mount.
        guard let file = FileHandle(forWritingAtPath: "/etc/netns/\(name)/resolv.conf") else {
            throw TestSupportError("no resolv.conf for \(name)")
        }
        defer { try? file.close() }
        try file.truncate(atOffset: 0)
        try file.write(contentsOf: Data(lines.utf8))
    }

    /// Runs a closure on a thread in the namespace: a socket that is made there belongs to the namespace permanently.
    func onThread<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
        let path = "/run/netns/" + name
        return try await withCheckedThrowingContinuation { continuation in
            // The thread ends with the closure, so that no other code runs on a thread in a foreign namespace.
            Thread.detachNewThread {
                continuation.resume(
                    with: Result {
                        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
                        guard descriptor >= 0 else { throw TestSupportError.system("open \(path)", errno) }
                        defer { close(descriptor) }
                        let networkNamespace: Int32 = 0x4000_0000
                        guard GNUCalls.setns(descriptor, networkNamespace) == 0 else {
                            throw TestSupportError.system("setns \(path)", errno)
                        }
                        return try body()
                    })
            }
        }
    }
}

public struct LinkTraffic: Sendable, Hashable {
    public var sentPackets: Int64
    public var sentBytes: Int64
    public var receivedPackets: Int64
    public var receivedBytes: Int64
}
