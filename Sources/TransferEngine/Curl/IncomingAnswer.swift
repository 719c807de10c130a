import TransferCore

/// The answer to one hop, as far as it has come.
struct IncomingAnswer {
    enum Phase { case head, deciding, body, dropping, trailers }

    var phase = Phase.head
    /// The block of field lines that is coming in.
    var block: [UInt8] = []
    var status = 0
    /// Answers of the class 1xx since the hop began.
    var interims = 0
    /// The time of the first of them.
    var interimsBegan: MonotonicTime?
    /// Whether the answer's protocol ends bodies by itself: every one but HTTP/1.
    var isFramed = false
    /// The end of its connection, where that is TLS's and may be all that ends the body.
    var closure: TLSClosure?
    /// Takes the codings off the body, where it has any that are to be taken off.
    var decoder: ContentDecoder?
    /// Bytes that the decoder has taken of those that libcurl will bring once more, after a hold.
    var decodedAhead = 0
    /// Bytes that came out of the decoder.
    var decoded: Int64 = 0
    /// Bytes of a body that nobody wants.
    var dropped = 0
    /// libcurl has all of an answer about which nothing was decided yet.
    var hasEndedUndecided = false
}

/// The request of one hop, as far as it has left.
struct OutgoingRequest {
    /// Bytes of the body.
    var sent: Int64 = 0
    /// The body leaves with the head, and libcurl counts what of it has left.
    var isJoined = false
    /// The request has left, or is about to.
    var hasMadeRequest = false
    /// All of the body was with the network when the last head came.
    var isBodyOut = true
    /// The file's bytes turned out not to be those that were sent.
    var isSourceOther = false

    mutating func beginHop() {
        sent = 0
        hasMadeRequest = false
        isBodyOut = true
    }
}
