/// The batches of a queue, with the numbers that they got when they were made.
///
/// A batch keeps its number for as long as the queue knows it, and no other batch of that queue ever gets it, not even
/// once the batch is forgotten.
public struct BatchRegister: Sendable, Hashable {
    public struct Entry: Sendable, Hashable {
        public let name: String
        /// From 1 on.
        public let number: Int64

        public init(name: String, number: Int64) {
            self.name = name
            self.number = number
        }
    }

    /// In the order in which they came.
    public let entries: [Entry]
    /// The highest number that was ever given; 0 where none was.
    public let last: Int64

    public init(entries: [Entry] = [], last: Int64 = 0) {
        self.entries = entries
        self.last = last
    }

    /// In the order in which they came.
    public var names: [String] { entries.map(\.name) }
}
