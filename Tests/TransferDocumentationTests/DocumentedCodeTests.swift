import Testing
import TransferKit

@Suite struct DocumentedCodeTests {}
