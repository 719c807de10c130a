import Foundation
import FoundationNetworking
import Glibc
import Synchronization
import TransferNetworking
import TransferReachability

/// Requests of a process that starts in a network namespace without any network, and sets one up later.
///
/// The process prints the events, one word per line.
final class WithoutNetwork: Sendable {
    private let log = Mutex<[String]>([])
    private let session = Mutex<Session?>(nil)
    private let server: Int32
    private let url: String

    init() throws {
        server = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let server = server
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(server, $0, size) == 0 && listen(server, 4) == 0 && getsockname(server, $0, &size) == 0
            }
        }
        guard isBound else { throw LoadError("no port to listen on") }
        url = "http://192.0.2.2:\(UInt16(bigEndian: address.sin_port))/"
        Thread.detachNewThread {
            while case let peer = accept(server, nil, nil), peer >= 0 {
                var buffer = [UInt8](repeating: 0, count: 4096)
                _ = read(peer, &buffer, buffer.count)
                let answer = Array("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello".utf8)
                _ = write(peer, answer, answer.count)
                close(peer)
            }
        }
    }

    func run(_ kind: String) async throws -> [String] {
        let configuration = URLSessionConfiguration.af.default
        let monitor = ClosureEventMonitor(queue: DispatchQueue(label: "monitor"))
        monitor.taskIsWaitingForConnectivity = { [self] _, _ in
            note("waiting")
            if kind == "waits" { makeNetwork() }
            if kind == "cancels" { session.withLock { $0 }?.cancelAllRequests() }
        }
        var interceptor: (any RequestInterceptor)?
        switch kind {
        case "fails": break
        case "waits", "cancels": configuration.waitsForConnectivity = true
        case "retries": interceptor = .offlineRetrier(maximumWait: .seconds(20))
        case "retriesOverKind":
            interceptor = .offlineRetrier(requiredInterfaceType: .wiredEthernet, maximumWait: .seconds(20))
        case "retriesOverOthers":
            interceptor = .offlineRetrier(prohibitedInterfaceTypes: [.wifi, .cellular], maximumWait: .seconds(20))
        case "kindIsMissing":
            interceptor = .offlineRetrier(requiredInterfaceType: .wifi, maximumWait: .milliseconds(200))
        case "kindIsProhibited":
            interceptor = .offlineRetrier(
                prohibitedInterfaceTypes: [.wiredEthernet, .other], maximumWait: .milliseconds(200))
        default: throw LoadError("no such kind: \(kind)")
        }
        if interceptor != nil {
            monitor.requestDidCompleteTaskWithError = { [self] _, _, error in
                guard error != nil else { return }
                note("failed")
                makeNetwork()
            }
        }
        let made = Session(configuration: configuration, interceptor: interceptor, eventMonitors: [monitor])
        session.withLock { $0 = made }
        let request = made.request(url)
        let task = request.serializingString()
        let response = await task.response
        switch response.result {
        case .success(let text): note(text)
        case .failure(let error) where error.isExplicitlyCancelledError: note("cancelled")
        case .failure(let error): note("error \((error.underlyingError as? URLError)?.code.rawValue ?? 0)")
        }
        note("retries \(request.retryCount)")
        return log.withLock { $0 }
    }

    private func note(_ word: String) { log.withLock { $0.append(word) } }

    private func makeNetwork() {
        let commands = [
            "link set lo up", "link add name veth0 type veth peer name veth1", "link set veth0 up",
            "link set veth1 up", "address add 192.0.2.2/24 dev veth0", "route add default via 192.0.2.1",
        ]
        let script = "PATH=$PATH:/sbin:/usr/sbin; " + commands.map { "ip \($0)" }.joined(separator: " && ")
        // Foundation's Process is not usable: it waits by sockets, of which there are none yet.
        var child: pid_t = 0
        var words =
            ["/bin/sh", "-c", script].map { (word: String) -> UnsafeMutablePointer<CChar>? in strdup(word) } + [nil]
        defer { for word in words { free(word) } }
        guard posix_spawn(&child, "/bin/sh", nil, nil, &words, environ) == 0 else { return note("no shell") }
        var status: Int32 = 0
        waitpid(child, &status, 0)
        if status != 0 { note("no network could be made: \(status)") }
    }
}
