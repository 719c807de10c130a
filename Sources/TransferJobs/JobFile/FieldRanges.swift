/// The ranges of the job file's integer keys.
package enum FieldRanges {
    package static let concurrencies = 1...10_000
    package static let parallelRequests = 1...64
    package static let priorities = -1_000_000...1_000_000
    package static let redirects = 0...100
    package static let retries = 0...1_000_000
    package static let retryBases = 2...100
    package static let segments = 1...32
    package static let statusCodes = 100...599
}
