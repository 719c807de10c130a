/// A type with a value for responses without a body.
@preconcurrency
public protocol EmptyResponse: Sendable {
    /// Returns the value for a response without a body.
    static func emptyValue() -> Self
}

/// The value of a response without a body, for requests that expect none.
public struct Empty: Codable, Hashable, Sendable, EmptyResponse {
    /// The only value of the type.
    public static let value = Empty()

    /// Returns the only value of the type.
    public static func emptyValue() -> Empty { value }

    /// Creates the value.
    public init() {}
}
