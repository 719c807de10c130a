/// A type with a value for answers that have no body.
@preconcurrency
public protocol EmptyResponse: Sendable {
    static func emptyValue() -> Self
}

/// The value of an answer without a body, for requests that expect none.
public struct Empty: Codable, Hashable, Sendable, EmptyResponse {
    /// The only value there is.
    public static let value = Empty()

    public static func emptyValue() -> Empty { value }

    public init() {}
}
