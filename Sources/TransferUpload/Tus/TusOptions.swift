public import TransferCore

/// How an upload by tus 1.0 is made.
public struct TusOptions: Sendable, Hashable {
    /// Bytes in one request at most; `nil`: all that is left. At least 1.
    public var chunkSize: Int64?
    /// The metadata of the file for the server (Upload-Metadata), in this order. `filename` and `filetype` are added
    /// where they aren't named here: some servers refuse to say an upload's offset without them.
    public var metadata: [TusMetadata]
    /// The algorithm that each chunk is protected by. Used only where the server offers it, which takes a request of its
    /// own; then chunks are of 64 MiB unless ``chunkSize`` says otherwise, as a chunk that is cut is lost.
    public var checksum: DigestAlgorithm?
    /// Whether the first chunk goes along with the creation, where the server offers that (creation-with-upload): a
    /// round trip less.
    ///
    /// Off by default: where the answer to the creation is lost, nobody knows the upload's URL. What was sent is lost,
    /// and if it was the whole file, nobody can know whether the server has it: the attempt fails with `mayHaveBeenSent`
    /// in place of making a second object.
    public var createsWithBody: Bool
    /// How many parts are sent at the same time and joined by the server (concatenation); 1 where it doesn't offer that.
    /// `nil` leaves it to the link, for files from ``worthDividing`` on: their parts are up to ``mostParts``, of which
    /// ``UploadSpread/initial`` are sent at first, and more while that is faster.
    ///
    /// Where the answer to the joining is lost, nobody can know whether the server has the file: the attempt fails with
    /// `mayHaveBeenSent` in place of making a second object. The parts stay on the server until it removes them itself.
    public var parallel: Int?
    /// Files are never cut into parts smaller than this; in bytes.
    public var minimumPartSize: Int64

    public init(
        chunkSize: Int64? = nil, metadata: [TusMetadata] = [], checksum: DigestAlgorithm? = nil,
        createsWithBody: Bool = false, parallel: Int? = 1, minimumPartSize: Int64 = 8 << 20
    ) {
        self.chunkSize = chunkSize
        self.metadata = metadata
        self.checksum = checksum
        self.createsWithBody = createsWithBody
        self.parallel = parallel
        self.minimumPartSize = minimumPartSize
    }

    /// The size in bytes from which on a file is worth parts of its own: fewer bytes cost less than the requests.
    public static let worthDividing: Int64 = 32 << 20
    /// Parts of a file whose number is left to the link. An ended part's place is taken by the next.
    public static let mostParts = 16

    /// The most parts that the file may have. Parts of a stream would come one after another.
    func parts(of source: UploadSource) -> Int64 {
        if let parallel { return Int64(parallel) }
        return source.isStreamed || source.size < Self.worthDividing ? 1 : Int64(Self.mostParts)
    }

    /// Whether something is wanted that only the server's answer to OPTIONS tells.
    func needsFeatures(for source: UploadSource) -> Bool {
        checksum != nil || createsWithBody || parts(of: source) > 1
    }
}

/// A name and its value in Upload-Metadata. The name is ASCII without blanks and commas and not empty.
public struct TusMetadata: Sendable, Hashable {
    public var name: String
    public var value: String

    public init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }

    var isValid: Bool {
        !name.isEmpty && name.utf8.allSatisfy { (0x21...0x7E).contains($0) && $0 != UInt8(ascii: ",") }
    }
}
