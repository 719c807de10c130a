import Dispatch
import Glibc
import Synchronization
import TransferCore
import TransferEventLoop
import TransferReachability

/// A monitor or a manager whose reports are printed.
final class Probe: Sendable {
    private let monitor: NetworkMonitor
    private let manager: NetworkReachabilityManager?
    private let observation: NetworkObservation?

    private init(_ monitor: NetworkMonitor, _ manager: NetworkReachabilityManager?, _ observation: NetworkObservation?)
    {
        self.monitor = monitor
        self.manager = manager
        self.observation = observation
    }

    static func watching(_ arguments: ArraySlice<String>) -> Probe {
        var options = NetworkMonitor.Options()
        var words = arguments.makeIterator()
        while let word = words.next(), let value = words.next() {
            switch word {
            case "--buffer": options.receiveBuffer = Int(value)
            case "--sysfs": options.sysfs = value
            case "--metered": options.meteredRule.metered = [value]
            default: Line.write("no such option: \(word)")
            }
        }
        let monitor = NetworkMonitor(options: options)
        let count = Mutex(0)
        let observation = monitor.observe { snapshot in
            let time = MonotonicTime.now.nanoseconds
            let number = count.withLock { count in
                count += 1
                return count
            }
            Line.write(Line.text(snapshot, number: number, at: time))
        }
        return Probe(monitor, NetworkReachabilityManager(), observation)
    }

    static func listening(to host: String?) -> Probe {
        let manager = host.map { NetworkReachabilityManager(host: $0) } ?? NetworkReachabilityManager()
        guard let manager else {
            Line.write("manager=nil")
            return Probe(NetworkMonitor(), nil, nil)
        }
        manager.startListening(onQueue: DispatchQueue(label: "probe")) { Line.write("told=\(Line.text($0))") }
        return Probe(NetworkMonitor(), manager, nil)
    }

    /// Makes a tun link, which ends with the process (Documentation/networking/tuntap of Linux).
    static func holding(tun name: String) -> Probe {
        let (setInterface, withoutHeader): (UInt, UInt16) = (0x4004_54CA, 0x1001)
        // `struct ifreq`: the name in 16 bytes, then the flags.
        var request = [UInt8](repeating: 0, count: 40)
        request.replaceSubrange(0..<min(15, name.utf8.count), with: name.utf8.prefix(15))
        withUnsafeBytes(of: withoutHeader) { request.replaceSubrange(16..<18, with: $0) }
        let descriptor = open("/dev/net/tun", O_RDWR)
        let code = request.withUnsafeMutableBytes { bytes -> Int32 in
            guard let address = bytes.baseAddress else { return -1 }
            return ioctl(descriptor, setInterface, address)
        }
        Line.write(code < 0 ? "tun=none" : "tun=\(name)")
        return Probe(NetworkMonitor(), nil, nil)
    }

    func answer(_ question: String) {
        let words = question.split(separator: " ").map(String.init)
        switch words.first {
        case "status": Line.write("status=\(manager.map { Line.text($0.status) } ?? "none")")
        case "route":
            guard words.count > 1, let address = IPAddress(words[1]) else { return Line.write("route=?") }
            let route = monitor.route(to: address, over: words.count > 2 ? Int(words[2]) : nil)
            guard let route else { return Line.write("route=none") }
            let facts = [
                "\(route.link)", route.gateway?.description ?? "-", route.source?.description ?? "-",
                route.isLocal ? "local" : "out",
            ]
            Line.write("route=\(facts.joined(separator: ","))")
        default: Line.write("no such question: \(question)")
        }
    }
}
