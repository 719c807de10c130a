import TransferCore

/// A reader of another tool's command lines: the words are taken one by one, and their meaning is complete at the end.
protocol FrontReader {
    static var tool: FrontTool { get }
    static var syntax: FrontSyntax { get }

    var line: FrontLine { get }
    /// The words that cannot be taken.
    var faults: [FrontFault] { get set }

    init()

    mutating func take(_ option: FrontOption)

    /// Takes an operand; the index is the word's position.
    mutating func take(operand: String, at index: Int)

    /// Completes the line after the last word.
    mutating func finish()
}

extension FrontReader {
    /// Reads a command line.
    ///
    /// - Throws: `FrontRefusal` with every word that cannot be taken.
    static func read(_ words: [String]) throws(FrontRefusal) -> FrontLine {
        var reader = Self()
        let (found, unknown) = syntax.read(words)
        reader.faults = unknown
        for word in found {
            switch word {
            case .operand(let text, let index): reader.take(operand: text, at: index)
            case .option(let option): reader.take(option)
            }
        }
        reader.finish()
        guard reader.faults.isEmpty else { throw FrontRefusal(tool: tool, words: words, faults: reader.faults) }
        return reader.line
    }
}
