/// A bar such as `━━━━╸─────────`, or `[####--------]` in ASCII.
enum ProgressBar {
    /// Draws a bar.
    ///
    /// - Parameter fraction: The fraction from 0 to 1; `nil` while the size is unknown.
    static func draw(_ fraction: Double?, width: Int, charset: Charset) -> StyledLine {
        var line = StyledLine()
        guard width > 0 else { return line }
        let fraction = min(1, max(0, fraction ?? 0))
        let done: StyledLine.Style = fraction >= 1 ? .good : .plain
        switch charset {
        case .utf8:
            let halves = Int(fraction * Double(width * 2))
            let full = halves / 2
            line.append(String(repeating: "━", count: full) + (halves % 2 == 1 ? "╸" : ""), done)
            line.append(String(repeating: "─", count: width - (halves + 1) / 2), .dim)
        case .ascii:
            let cells = max(0, width - 2)
            let full = Int(fraction * Double(cells))
            line.append("[")
            line.append(String(repeating: "#", count: full), done)
            line.append(String(repeating: "-", count: cells - full), .dim)
            line.append("]")
        }
        return line
    }
}
