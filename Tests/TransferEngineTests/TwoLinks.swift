import Foundation
import Synchronization
import TransferTestSupport

/// A network namespace with two links, `a` and `b`, to a second namespace with a web server and a name server. Both
/// links lead to both servers, and the kernel prefers `a`. The namespaces are removed with this object.
final class TwoLinks: Sendable {
    /// Whether this user can make network namespaces, or the tests require it.
    static let isAllowed: Bool = {
        let made = (try? run("ip netns add tk-try-\(getpid()) && ip netns delete tk-try-\(getpid())")) == 0
        if !made {
            print("SKIPPED: no network namespaces here (root, and iproute2's ip): no link is proved to be kept to")
        }
        return made || NetworkNamespaces.areRequired
    }()

    /// The client's address on each link, which the servers see.
    static let addresses = (a: "10.81.1.2", b: "10.81.2.2")
    static let web = "10.81.9.1"
    private static let names = "10.81.9.53"
    private static let lastNumber = Mutex(0)

    let folder: TemporaryFolder
    private let client: String
    private let peer: String
    private let nameServer: ChildProcess
    private let webServer: ChildProcess

    /// - Parameters:
    ///   - records: `NAME=ADDRESS,…` for the name server.
    ///   - setUp: Additional commands, with $C and $P for the namespaces.
    init(records: [String], setUp: String = "") async throws {
        let number = Self.lastNumber.withLock { last in
            last += 1
            return last
        }
        (client, peer) = ("tk-c\(getpid())-\(number)", "tk-p\(getpid())-\(number)")
        folder = try TemporaryFolder("links")
        try folder.write("nameserver \(Self.names)\noptions timeout:1\n", to: "resolv.conf")
        try folder.write("127.0.0.1 localhost\n\(Self.web) listed.example\n", to: "hosts")
        try folder.write(Self.nginx(folder.path), to: "nginx.conf")
        let script = "set -e; C=\(client); P=\(peer)\n" + Self.script + "\n" + setUp
        guard try Self.run(script) == 0 else {
            _ = try? Self.run("ip netns delete \(client); ip netns delete \(peer)")
            throw TestSupportError("no namespaces were made by: \(script)")
        }
        nameServer = try Self.start(
            peer, [TransferCommand.builtProduct("link-probe"), "names", Self.names] + records)
        webServer = try Self.start(
            peer, [NginxServer.binary(), "-p", folder.path, "-c", folder.path("nginx.conf")])
        try await nameServer.line(.standardOutput) { $0 == "ready" }
        try await webServer.line { $0.contains("start worker process") }
    }

    deinit {
        nameServer.kill(SIGKILL)
        webServer.kill(SIGTERM)
        _ = try? Self.run("ip netns delete \(client); ip netns delete \(peer)")
    }

    /// The links have no IPv6, so that every counted packet belongs to a transfer.
    private static let script = """
        ip netns add $C; ip netns add $P
        for link in a b; do
            ip link add name $link netns $C type veth peer name $link netns $P
            for side in $C $P; do
                ip netns exec $side sh -c "echo 1 >/proc/sys/net/ipv6/conf/$link/disable_ipv6"
                ip netns exec $side sh -c "echo 0 >/proc/sys/net/ipv4/conf/$link/rp_filter"
            done
        done
        ip -n $P address add 10.81.1.1/24 dev a; ip -n $P address add 10.81.2.1/24 dev b
        ip -n $C address add 10.81.1.2/24 dev a; ip -n $C address add 10.81.2.2/24 dev b
        ip -n $P address add 10.81.9.1/32 dev lo; ip -n $P address add 10.81.9.53/32 dev lo
        for side in $C $P; do for link in lo a b; do ip -n $side link set dev $link up; done; done
        ip -n $C route add default via 10.81.1.1 dev a metric 100
        ip -n $C route add default via 10.81.2.1 dev b metric 200
        """

    /// Answers with the client's address.
    private static func nginx(_ folder: String) -> String {
        """
        daemon off; user root; worker_processes 1; pid "\(folder)/nginx.pid"; error_log stderr notice;
        events { }
        http {
            access_log off; client_body_temp_path "\(folder)/body"; proxy_temp_path "\(folder)/proxy";
            fastcgi_temp_path "\(folder)/fastcgi"; uwsgi_temp_path "\(folder)/uwsgi"; scgi_temp_path "\(folder)/scgi";
            server {
                listen \(web):80; listen \(web):3128;
                location / { return 200 "$remote_addr on $server_port"; }
                location /away { return 302 "http://other.example/"; }
            }
        }
        """
    }

    /// Runs `link-probe` in the client's namespace, and returns its lines.
    func probe(_ words: String...) async throws -> [String] {
        // `ip netns exec` has made a mount namespace, so other processes do not see this file.
        let script = """
            mount --bind "\(folder.path("resolv.conf"))" /etc/resolv.conf
            mount --bind "\(folder.path("hosts"))" /etc/hosts
            exec "$@"
            """
        let result = try await Self.start(
            client, ["/bin/sh", "-ec", script, "sh", TransferCommand.builtProduct("link-probe")] + words
        ).result()
        guard result.exitCode == 0 else { throw TestSupportError("\(result)") }
        return result.standardOutput.split(separator: "\n").map(String.init)
    }

    /// Returns the number of packets that the kernel has sent over the link, ARP included.
    func sent(over link: String) async throws -> Int {
        let result = try await Self.start(client, ["cat", "/sys/class/net/\(link)/statistics/tx_packets"]).result()
        guard let count = Int(result.standardOutput.split(separator: "\n").first ?? "") else {
            throw TestSupportError("\(result)")
        }
        return count
    }

    /// Runs `ip` in the client's namespace.
    func ip(_ words: String) throws {
        guard try Self.run("ip -n \(client) \(words)") == 0 else { throw TestSupportError("ip \(words)") }
    }

    /// Returns the questions to the name server (`udp A web.example 10.81.2.2`) in alphabetical order. The name server
    /// is stopped first, so that no line can be missing.
    func questions() async throws -> [String] {
        nameServer.kill(SIGTERM)
        let result = try await nameServer.result()
        return result.standardOutput.split(separator: "\n").map(String.init).filter { $0 != "ready" }.sorted()
    }

    private static func start(_ namespace: String, _ words: [String]) throws -> ChildProcess {
        try ChildProcess.start(
            ChildProcess.Command(
                "/bin/sh", ["-c", "PATH=$PATH:/usr/sbin:/sbin; exec ip netns exec \"$@\"", "sh", namespace] + words,
                timeout: .seconds(50)))
    }

    /// Runs a short script, and returns its status.
    private static func run(_ script: String) throws -> Int32 {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments = ["-c", "PATH=$PATH:/usr/sbin:/sbin\n" + script]
        try process.run()
        process.waitUntilExit()
        return process.terminationStatus
    }
}
