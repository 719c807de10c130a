/// The reason why a helper of the tests failed, written for the reader of a failed test.
public struct TestSupportError: Error, CustomStringConvertible {
    public var description: String

    public init(_ description: String) {
        self.description = description
    }

    static func system(_ call: String, _ code: Int32) -> TestSupportError {
        TestSupportError("\(call): \(systemMessage(code))")
    }
}
