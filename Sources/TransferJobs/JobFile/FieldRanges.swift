/// The whole numbers that keys of the job file may have.
enum FieldRanges {
    static let concurrencies = 1...10_000
    static let parallelRequests = 1...64
    static let priorities = -1_000_000...1_000_000
    static let redirects = 0...100
    static let retries = 0...1_000_000
    static let retryBases = 2...100
    static let segments = 1...16
    static let statusCodes = 100...599
}
