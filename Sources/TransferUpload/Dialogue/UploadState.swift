/// The state that an attempt of an upload leaves to the next one, in this process or another. It holds no secret.
///
/// The envelope tells everybody what they have to know of it; its content is for the dialogue that wrote it.
public struct UploadState: Sendable, Hashable {
    /// The dialogue that wrote it, and can read it.
    public var kind: String
    /// The server can be asked by it what became of the upload.
    public var canAsk: Bool
    /// The server may have applied the upload, although it isn't to be applied twice: it's asked before another version
    /// of the file is sent.
    public var mayBeComplete: Bool
    /// The server has something for the upload that it frees when it's told that the upload is given up.
    public var isHeld: Bool
    /// The dialogue's own text.
    public var payload: String

    public init(
        kind: String, canAsk: Bool, mayBeComplete: Bool = false, isHeld: Bool = true, payload: String
    ) {
        self.kind = kind
        self.canAsk = canAsk
        self.mayBeComplete = mayBeComplete
        self.isHeld = isHeld
        self.payload = payload
    }

    /// An attempt has left nothing to go on from, but its successor isn't the first one.
    static let nothing = UploadState(kind: "nothing", canAsk: false, isHeld: false, payload: "")
}

extension UploadState: Codable {
    private enum CodingKeys: String, CodingKey {
        case kind, canAsk, mayBeComplete, isHeld, payload
    }

    public init(from decoder: any Decoder) throws {
        if let text = try? decoder.singleValueContainer().decode(String.self) {
            self.init(earlier: text)
            return
        }
        let values = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            kind: try values.decode(String.self, forKey: .kind), canAsk: try values.decode(Bool.self, forKey: .canAsk),
            mayBeComplete: try values.decode(Bool.self, forKey: .mayBeComplete),
            isHeld: try values.decode(Bool.self, forKey: .isHeld),
            payload: try values.decode(String.self, forKey: .payload))
    }
}
