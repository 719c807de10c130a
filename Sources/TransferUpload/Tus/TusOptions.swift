public import TransferCore

/// The options of an upload by tus 1.0.
public struct TusOptions: Sendable, Hashable {
    /// The most bytes of one request, at least 1; `nil` sends the whole rest.
    public var chunkSize: Int64?
    /// The file's metadata for the server (Upload-Metadata), in this order.
    ///
    /// `filename` and `filetype` are added where they are missing: some servers refuse to report an upload's offset
    /// without them.
    public var metadata: [TusMetadata]
    /// The algorithm that protects each chunk, used only where the server offers it.
    ///
    /// The question costs a request. Chunks then have 64 MiB unless ``chunkSize`` says otherwise, as an interrupted
    /// chunk is lost.
    public var checksum: DigestAlgorithm?
    /// Whether the creation carries the first chunk, where the server offers that (creation-with-upload), to save a
    /// round trip.
    ///
    /// The option is off by default: without the creation's answer the upload's URL is unknown. The sent bytes are then lost.
    /// If they were the whole file, its arrival is unknown, too. The attempt then fails with `mayHaveBeenSent` and
    /// makes no second object.
    public var createsWithBody: Bool
    /// The number of parts that are sent concurrently and joined by the server (concatenation); 1 where it does not
    /// offer that.
    ///
    /// `nil` leaves the number to the link, for files of at least ``worthDividing``. Such a file has up to
    /// ``mostParts`` parts, of which ``UploadSpread/initial`` are sent at first, and more while that is faster.
    ///
    /// Without the answer to the joining it is unknown whether the server has the file. The attempt then fails with
    /// `mayHaveBeenSent` and makes no second object. The parts stay on the server until it removes them itself.
    public var parallel: Int?
    /// The least length of a part, in bytes.
    public var minimumPartSize: Int64

    /// Creates options.
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

    /// The size in bytes from which a file is divided: for fewer bytes the requests cost more than they save.
    public static let worthDividing: Int64 = 32 << 20
    /// The most parts of a file whose number is left to the link. The next part takes the place of a finished one.
    public static let mostParts = 16

    /// Returns the most parts of a file. Parts of a stream would come one after another.
    func parts(of source: UploadSource) -> Int64 {
        if let parallel { return Int64(parallel) }
        return source.isStreamed || source.size < Self.worthDividing ? 1 : Int64(Self.mostParts)
    }

    /// Returns whether an option needs the server's answer to OPTIONS.
    func needsFeatures(for source: UploadSource) -> Bool {
        checksum != nil || createsWithBody || parts(of: source) > 1
    }
}

/// A name and its value in Upload-Metadata. The name is ASCII without blanks and commas and not empty.
public struct TusMetadata: Sendable, Hashable {
    /// The name.
    public var name: String
    /// The value.
    public var value: String

    /// Creates a pair.
    public init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }

    var isValid: Bool {
        !name.isEmpty && name.utf8.allSatisfy { (0x21...0x7E).contains($0) && $0 != UInt8(ascii: ",") }
    }
}
