import CTransferCurl
import TransferCore

/// The kernel's record of one TCP connection (TCP_INFO, tcp(7)): read here for all parts that decide by it.
struct TCPFacts {
    /// The states of tcp_states.h that a connection in use may have. Its server has not said its last.
    enum State: UInt8 { case established = 1, connecting = 2 }

    /// `nil` for a connection that has ended, or is about to.
    let state: State?
    /// Whether the sender reduces what it has on its way (TCP_CA_CWR, TCP_CA_Recovery, TCP_CA_Loss).
    let isRecovering: Bool
    /// How often the present interval between retransmissions was doubled.
    let backoff: Int
    let retransmissionInterval: Duration
    /// Bytes of a segment that leaves.
    let segment: Int
    /// Segments that the peer has not acknowledged.
    let unacknowledged: Int
    let sinceData: Duration
    let sinceAcknowledgement: Duration
    let roundTrip: Duration
    /// A round trip as the receiver of bytes sees it, queues included; zero before any bytes came.
    let receivedRoundTrip: Duration
    /// `nil` for a connection that has not measured one, and where the kernel does not say (before 4.6).
    let leastRoundTrip: Duration?
    /// Segments that were sent again.
    let retransmitted: Int64
    /// Segments with data that were sent; `nil` before Linux 4.6.
    let segments: Int64?
    /// Segments that came out of order; `nil` before Linux 5.5.
    let disordered: Int64?
    /// Bytes that the peer has acknowledged, with the connection's own one or two.
    let acknowledged: Int64
    let received: Int64

    /// - Returns: `nil` where the kernel does not say: before Linux 4.1, and for what is no TCP connection.
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
        // A connection that has not measured any has the greatest number, too.
        leastRoundTrip = facts.least_round_trip == .max ? nil : .microseconds(Int64(facts.least_round_trip))
        retransmitted = Int64(facts.retransmitted)
        segments = facts.segments == .max ? nil : Int64(facts.segments)
        disordered = facts.disordered == .max ? nil : Int64(facts.disordered)
        acknowledged = facts.acknowledged
        received = facts.received
    }
}
