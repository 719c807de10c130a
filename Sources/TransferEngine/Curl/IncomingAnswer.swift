import TransferCore

/// The answer to one hop, to the extent that it has come.
struct IncomingAnswer {
    enum Phase { case head, deciding, body, dropping, trailers }

    var phase = Phase.head
    /// The block of field lines that is being received.
    var block: [UInt8] = []
    var status = 0
    /// The block of field lines that came behind the body.
    var trailers: [UInt8] = []
    /// The number of 1xx answers since the hop began.
    var interims = 0
    /// The time of the first 1xx answer.
    var interimsBegan: MonotonicTime?
    /// Whether the answer's protocol marks the end of bodies itself, as every one but HTTP/1 does.
    var isFramed = false
    /// The end of a TLS connection, where that may be the only end of the body.
    var closure: TLSClosure?
    /// The decoder that removes the body's codings, where they are to be removed.
    var decoder: ContentDecoder?
    /// The decoded bytes among those that libcurl will deliver again after a hold.
    var decodedAhead = 0
    /// The bytes that came out of the decoder.
    var decoded: Int64 = 0
    /// The bytes of an unwanted body.
    var dropped = 0
    /// Whether libcurl has a whole answer about which no decision has been made yet.
    var hasEndedUndecided = false
}

/// The request of one hop, to the extent that it has left.
struct OutgoingRequest {
    /// The sent bytes of the body.
    var sent: Int64 = 0
    /// Whether the body leaves with the head, so that libcurl counts the bytes that have left.
    var isJoined = false
    /// Whether the request has left, or is about to.
    var hasMadeRequest = false
    /// Whether the network had taken the whole body when the last head came.
    var isBodyOut = true
    /// Whether the file's bytes turned out to differ from those that were sent.
    var isSourceOther = false

    mutating func beginHop() {
        sent = 0
        hasMadeRequest = false
        isBodyOut = true
    }
}
