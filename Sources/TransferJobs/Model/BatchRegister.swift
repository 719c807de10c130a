/// The batches of a queue, with the numbers assigned at their creation.
///
/// A batch keeps its number for as long as the queue knows it. No other batch of that queue ever gets the number, even
/// once the batch is forgotten.
public struct BatchRegister: Sendable, Hashable {
    /// A batch's name and number.
    public struct Entry: Sendable, Hashable {
        /// The batch's name.
        public let name: String
        /// The batch's number, from 1.
        public let number: Int64

        /// Creates an entry; numbers start at 1.
        public init(name: String, number: Int64) {
            self.name = name
            self.number = number
        }
    }

    /// The batches, in the order of their creation.
    public let entries: [Entry]
    /// The highest number ever assigned; 0 where none was.
    public let last: Int64

    /// Creates a register; `last` is the highest number ever assigned, or 0.
    public init(entries: [Entry] = [], last: Int64 = 0) {
        self.entries = entries
        self.last = last
    }

    /// The batches' names, in the order of their creation.
    public var names: [String] { entries.map(\.name) }
}
