import CTransferCurl
import TransferCore

/// The kernel's record of one TCP connection (TCP_INFO, tcp(7)), for all decisions that depend on it.
struct TCPFacts {
    /// The states of tcp_states.h in which the server of a connection may still send.
    enum State: UInt8 { case established = 1, connecting = 2 }

    /// The state; `nil` for a connection that has ended, or is about to.
    let state: State?
    /// Whether the sender reduces the amount of data under way (TCP_CA_CWR, TCP_CA_Recovery, TCP_CA_Loss).
    let isRecovering: Bool
    /// The number of times that the current retransmission interval was doubled.
    let backoff: Int
    let retransmissionInterval: Duration
    /// The size of a sent segment, in bytes.
    let segment: Int
    /// The number of segments that the peer has not acknowledged.
    let unacknowledged: Int
    let sinceData: Duration
    let sinceAcknowledgement: Duration
    let roundTrip: Duration
    /// The round trip as the receiver of bytes measures it, including queues. It is zero before any bytes arrived.
    let receivedRoundTrip: Duration
    /// The shortest round trip; `nil` before the first measurement, and where the kernel has no value (before Linux
    /// 4.6).
    let leastRoundTrip: Duration?
    /// The number of segments that were sent again.
    let retransmitted: Int64
    /// The number of segments with data that were sent; `nil` before Linux 4.6.
    let segments: Int64?
    /// The number of segments that arrived out of order; `nil` before Linux 5.5.
    let disordered: Int64?
    /// The bytes that the peer has acknowledged, including one or two for the connection's own signals.
    let acknowledged: Int64
    let received: Int64

    /// Reads the record of a socket.
    ///
    /// - Returns: `nil` where the kernel has none: before Linux 4.1, and for other sockets than those of TCP.
    init?(of socket: Int32) {
        var facts = transfer_tcp_facts()
        guard transfer_tcp_facts_of(socket, &facts) == 0 else { return nil }
        state = State(rawValue: facts.state)
        isRecovering = facts.congestion_state >= 2
        backoff = Int(facts.backoff)
        retransmissionInterval = .microseconds(Int64(facts.retransmission_interval))
        segment = Int(facts.segment)
        unacknowledged = Int(facts.unacknowledged)
        sinceData = .milliseconds(Int64(facts.since_data))
        sinceAcknowledgement = .milliseconds(Int64(facts.since_acknowledgement))
        roundTrip = .microseconds(Int64(facts.round_trip))
        receivedRoundTrip = .microseconds(Int64(facts.received_round_trip))
        // The greatest number also stands for a connection without a measurement.
        leastRoundTrip = facts.least_round_trip == .max ? nil : .microseconds(Int64(facts.least_round_trip))
        retransmitted = Int64(facts.retransmitted)
        segments = facts.segments == .max ? nil : Int64(facts.segments)
        disordered = facts.disordered == .max ? nil : Int64(facts.disordered)
        acknowledged = facts.acknowledged
        received = facts.received
    }
}
