import Synchronization
public import TransferCore

/// Live counters of one exchange. The exchange's loop alone changes them, and any thread reads them at any time.
///
/// Every number that a program, a screen or a service shows of a transfer under way comes from here.
public final class ExchangeMeter: Sendable {
    private let positionCount = Atomic<Int64>(0)
    private let totalCount = Atomic<Int64>(-1)
    private let receivedCount = Atomic<Int64>(0)
    private let sentCount = Atomic<Int64>(0)
    private let acknowledgedCount = Atomic<Int64>(0)
    private let besideCount = Atomic<Int64>(0)
    private let congestionUse = Mutex<CongestionUse?>(nil)
    /// The place of the kernel's measurements of the connection; `nil` where nobody asks for them.
    let path: PathMeter?

    public init(path: PathMeter? = nil) { self.path = path }

    /// Bytes of the file in place; of a coded answer, bytes as they came over the network.
    public var position: Int64 { positionCount.load(ordering: .relaxed) + besideCount.load(ordering: .relaxed) }
    public var total: Int64? {
        let total = totalCount.load(ordering: .relaxed)
        return total >= 0 ? total : nil
    }
    /// Body bytes that came over the network, of every answer that was delivered. The count never falls.
    public var received: Int64 { receivedCount.load(ordering: .relaxed) }
    /// Bytes of the request's body that the network has taken: the kernel may still hold megabytes of them.
    public var sent: Int64 { sentCount.load(ordering: .relaxed) }
    /// Bytes of the request's body that the peer has acknowledged, at most ``sent``. The count never falls.
    ///
    /// The peer is the other end of the TCP connection: a proxy, where there is one. Over TLS the framing of bytes that are
    /// on their way counts against the body, so that the number is too small by at most 2 % of those until they arrive.
    public var acknowledged: Int64 { acknowledgedCount.load(ordering: .relaxed) }

    /// The congestion control of the connection that sends, where it isn't simply the system's.
    public var congestion: CongestionUse? { congestionUse.withLock { $0 } }

    package func update(congestion: CongestionUse) { congestionUse.withLock { $0 = congestion } }
    package func update(position: Int64) { positionCount.store(position, ordering: .relaxed) }
    package func update(total: Int64?) { totalCount.store(total ?? -1, ordering: .relaxed) }
    package func update(received: Int64) { receivedCount.store(received, ordering: .relaxed) }
    /// Bytes of the same file that another exchange put in place.
    func add(beside count: Int64) { besideCount.add(count, ordering: .relaxed) }
    package func update(sent: Int64) { sentCount.store(sent, ordering: .relaxed) }
    /// A body that is sent again, to another place or after a challenge, is counted once.
    package func update(acknowledged: Int64) {
        acknowledgedCount.store(max(self.acknowledged, acknowledged), ordering: .relaxed)
    }
}
