/// The state that an attempt of an upload leaves to the next one, in this process or another. It holds no secret.
///
/// The envelope has the facts that other code needs; only the dialogue that wrote the content reads it.
public struct UploadState: Sendable, Hashable {
    /// The kind of the dialogue that wrote the state, and can read it.
    public var kind: String
    /// Whether the server can be asked by the state for the fate of the upload.
    public var canAsk: Bool
    /// Whether the server may have applied an upload that must not be applied twice.
    ///
    /// The server is then asked before another version of the file is sent.
    public var mayBeComplete: Bool
    /// Whether the server holds resources for the upload that it frees when it is notified of its end.
    public var isHeld: Bool
    /// The dialogue's own text.
    public var payload: String

    /// Creates a state.
    public init(
        kind: String, canAsk: Bool, mayBeComplete: Bool = false, isHeld: Bool = true, payload: String
    ) {
        self.kind = kind
        self.canAsk = canAsk
        self.mayBeComplete = mayBeComplete
        self.isHeld = isHeld
        self.payload = payload
    }

    /// The state after an attempt that left nothing to continue from. It shows that the next attempt is not the first
    /// one.
    static let nothing = UploadState(kind: "nothing", canAsk: false, isHeld: false, payload: "")
}

extension UploadState: Codable {
    private enum CodingKeys: String, CodingKey {
        case kind, canAsk, mayBeComplete, isHeld, payload
    }

    /// Decodes a state, also one of versions before the envelope.
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
