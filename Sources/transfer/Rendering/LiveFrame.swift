/// The lines at the bottom of a terminal that are rewritten repeatedly, with lines that scroll away above them.
///
/// The cursor rests on the line below the frame and is never hidden, so that a killed process leaves a usable terminal.
/// Lines are not compared: each frame overwrites the last one.
struct LiveFrame: Sendable {
    /// The widths of the lines on the screen.
    private var drawn: [Int] = []

    /// Returns the output that draws a frame.
    ///
    /// - Parameters:
    ///   - above: Lines that stay, before the frame.
    ///   - width: The terminal's current width; a narrower window has wrapped the existing lines.
    mutating func draw(_ lines: [StyledLine], above: [StyledLine] = [], width: Int, colors: Bool) -> String {
        var output = home(width)
        if !above.isEmpty {
            // Permanent lines may be wider than the window and wrap, so the frame below must be erased first.
            output += "\u{1B}[J"
            for line in above { output += line.rendered(colors: colors) + "\n" }
        }
        for line in lines { output += line.rendered(colors: colors) + "\u{1B}[K\n" }
        output += "\u{1B}[J"
        drawn = lines.map(\.width)
        return output
    }

    /// Returns the output that removes the frame.
    mutating func clear(width: Int) -> String {
        guard !drawn.isEmpty else { return "" }
        defer { drawn = [] }
        return home(width) + "\u{1B}[J"
    }

    private func home(_ width: Int) -> String {
        let rows = drawn.reduce(0) { $0 + max(1, ($1 + max(1, width) - 1) / max(1, width)) }
        return rows > 0 ? "\r\u{1B}[\(rows)A" : "\r"
    }
}
