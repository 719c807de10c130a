import Synchronization
public import TransferCore

/// The live counters of one exchange. Only the exchange's loop changes them, and any thread reads them at any time.
///
/// All numbers that a program, a screen or a service shows of a current transfer come from here.
public final class ExchangeMeter: Sendable {
    private let positionCount = Atomic<Int64>(0)
    private let totalCount = Atomic<Int64>(-1)
    private let receivedCount = Atomic<Int64>(0)
    private let sentCount = Atomic<Int64>(0)
    private let acknowledgedCount = Atomic<Int64>(0)
    private let besideCount = Atomic<Int64>(0)
    private let congestionUse = Mutex<CongestionUse?>(nil)
    /// The meter for the kernel's measurements of the connection; `nil` where they are not wanted.
    let path: PathMeter?
    /// The closure that is called with the first bytes of a body.
    private let firstBytes: (@Sendable () -> Void)?

    /// Creates a meter with all counts at 0.
    ///
    /// - Parameter onFirstBytes: A closure that is called on the exchange's loop when the first bytes of a body have
    ///   come.
    public init(path: PathMeter? = nil, onFirstBytes: (@Sendable () -> Void)? = nil) {
        self.path = path
        firstBytes = onFirstBytes
    }

    /// The bytes of the file in place; of a coded answer, the bytes as they came over the network.
    public var position: Int64 { positionCount.load(ordering: .relaxed) + besideCount.load(ordering: .relaxed) }
    /// The length of the whole file in bytes; `nil` while it is unknown.
    public var total: Int64? {
        let total = totalCount.load(ordering: .relaxed)
        return total >= 0 ? total : nil
    }
    /// The bytes of all delivered bodies that came over the network. The count never falls.
    public var received: Int64 { receivedCount.load(ordering: .relaxed) }
    /// The bytes of the request's body that the network has taken: the kernel may still hold megabytes of them.
    public var sent: Int64 { sentCount.load(ordering: .relaxed) }
    /// The bytes of the request's body that the peer has acknowledged, at most ``sent``. The count never falls.
    ///
    /// The peer is the other end of the TCP connection: a proxy, where there is one. Over TLS the framing of bytes
    /// under way reduces the count by at most 2 % of them until they arrive.
    public var acknowledged: Int64 { acknowledgedCount.load(ordering: .relaxed) }

    /// The congestion control of the connection that sends, where it is not simply the system's.
    public var congestion: CongestionUse? { congestionUse.withLock { $0 } }

    package func update(congestion: CongestionUse) { congestionUse.withLock { $0 = congestion } }
    package func update(position: Int64) { positionCount.store(position, ordering: .relaxed) }
    package func update(total: Int64?) { totalCount.store(total ?? -1, ordering: .relaxed) }
    package func update(received: Int64) {
        guard let firstBytes else { return receivedCount.store(received, ordering: .relaxed) }
        if receivedCount.exchange(received, ordering: .relaxed) == 0, received > 0 { firstBytes() }
    }
    /// Adds bytes of the same file that another exchange put in place.
    func add(beside count: Int64) { besideCount.add(count, ordering: .relaxed) }
    package func update(sent: Int64) { sentCount.store(sent, ordering: .relaxed) }
    /// Sets the acknowledged bytes. A body that is sent again, to another place or after a challenge, is counted once.
    package func update(acknowledged: Int64) {
        acknowledgedCount.store(max(self.acknowledged, acknowledged), ordering: .relaxed)
    }
}
