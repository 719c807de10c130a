/// Why a helper of the tests could not do its work; the text is meant for the reader of a failed test.
public struct TestSupportError: Error, CustomStringConvertible {
    public var description: String

    public init(_ description: String) {
        self.description = description
    }

    static func system(_ call: String, _ code: Int32) -> TestSupportError {
        TestSupportError("\(call): \(systemMessage(code))")
    }
}
