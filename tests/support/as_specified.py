"""The adapter of the specification of agents, as it is written there."""

AS_SPECIFIED = """
- name: "intent-agent-example"
  enabled: true
  type: "retriever"
  datasource: "http"
  adapter: "intent"
  implementation: "retrievers.implementations.intent.IntentAgentRetriever"

  # Embedding provider for template matching
  embedding_provider: "ollama"
  embedding_model: "nomic-embed-text"

  # Inference model for response generation
  inference_model_provider: "ollama"
  inference_model: "gemma3:270m"

  config:
    # Domain configuration
    domain_config_path: "examples/intent-templates/agent-template/domain.yaml"

    # Tool templates
    template_library_path:
      - "examples/intent-templates/agent-template/tools.yaml"

    # Confidence threshold for template matching
    confidence_threshold: 0.6

    # Maximum templates to consider
    max_templates: 5

    # Agent-specific settings
    agent:
      # Optional: Dedicated function-calling model
      function_model_provider: "ollama"
      function_model: "functiongemma"

      # Generate natural language responses
      synthesize_response: true

      # Timeout for tool execution (seconds)
      tool_timeout: 30

      # Enable verbose logging
      verbose: false
"""
