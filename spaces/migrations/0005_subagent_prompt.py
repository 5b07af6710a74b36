from django.db import migrations, models


class Migration(migrations.Migration):
    """What ends the system prompt of each subagent of a conversation."""

    dependencies = [("spaces", "0004_bound_definition")]

    operations = [
        migrations.AddField(
            model_name="bounddefinition",
            name="subagent_prompt",
            field=models.TextField(blank=True),
        ),
    ]
